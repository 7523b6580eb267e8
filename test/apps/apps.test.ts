/** The apps of routes and fitness in Chromium, with the official host code, on the programs that people run. */

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { AppView, AppViewOptions, HostClient } from '../kit/clients/app-host.client.ts'
import { showApp } from '../kit/clients/app-host.client.ts'
import { overStdio } from '../kit/clients/binary.client.ts'
import { startChromium } from '../kit/processes/chromium.ts'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'

let browser: Browser
beforeAll(async () => {
  browser = await startChromium()
}, 600_000)
afterAll(() => browser?.close())

async function show(client: Client, name: string, input: object, options?: AppViewOptions): Promise<AppView> {
  const view = await showApp(browser, client as unknown as HostClient, name, { ...input }, options)
  onTestFinished(() => view.page.close())
  return view
}
const route = { origin: 'Hanoi', destination: 'Ho Chi Minh City', language: 'en' }

test('the map shows the route, its places and its steps, without network', async () => {
  const { frame, loaded, thrown, forwarded } = await show(
    await overStdio('routes', temporaryFolder()),
    'calculate_route',
    route,
  )
  await frame.getByRole('heading', { name: /Hà Nội|Hanoi/ }).waitFor()
  expect(await frame.locator('#summary').textContent()).toBe('about 1,722 km, 27 h')
  const line = (await frame.locator('polyline.best').getAttribute('points'))?.split(' ') ?? []
  expect(line.length).toBeGreaterThan(2)
  expect(await frame.locator('svg circle').count()).toBe(2)
  await frame.locator('summary').click()
  expect(await frame.locator('ol li').count()).toBeGreaterThan(1)
  expect([loaded, thrown, forwarded]).toEqual([[], [], []])
})

test('without the route beside the answer, the map reads it from the server', async () => {
  const change: AppViewOptions['change'] = (result) => ({
    ...result,
    content: (result['content'] as { type: string }[]).filter(({ type }) => type === 'text'),
  })
  const { frame, forwarded } = await show(await overStdio('routes', temporaryFolder()), 'calculate_route', route, {
    change,
  })
  await frame.locator('polyline.best').waitFor()
  expect(forwarded).toMatchObject([{ method: 'resources/read', params: { uri: expect.stringMatching(/^route:\/\//) } }])
})

test('a failure is shown as text, and so is a name with markup in it', async () => {
  const client = await overStdio('routes', temporaryFolder())
  const failed = await show(client, 'calculate_route', { origin: '<img src=x onerror=alert(1)>', destination: 'Hue' })
  await failed.frame.getByRole('alert').filter({ hasText: '<img src=x' }).waitFor()
  const evil = '<b>Evil</b><img src=https://evil.example/x>'
  const view = await show(client, 'calculate_route', route, {
    change: (result) =>
      JSON.parse(JSON.stringify(result).replaceAll('Hanoi', evil).replaceAll('Hà Nội', evil)) as typeof result,
  })
  await view.frame.getByRole('heading', { name: '<b>Evil</b>' }).waitFor()
  expect([...failed.loaded, ...view.loaded, ...failed.thrown, ...view.thrown]).toEqual([])
})

test('the training load shows the chart, changes the range through the host, and follows the theme', async () => {
  const client = await overStdio('fitness', temporaryFolder())
  await client.callTool({ name: 'connect_provider', arguments: { provider: 'synthetic' } })
  const { frame, loaded, thrown, forwarded, changeTheme } = await show(client, 'analyze_training_load', { days: 28 })
  const points = async (): Promise<number> =>
    (await frame.locator('polyline.ctl').getAttribute('points'))?.split(' ').length ?? 0
  await frame.locator('polyline.ctl').waitFor()
  expect(await points()).toBe(28)
  await frame.getByText('Made-up data.').waitFor()
  await frame.getByRole('button', { name: '90 days' }).click()
  await expect.poll(points).toBe(90)
  expect(forwarded).toEqual([
    { method: 'tools/call', params: { name: 'analyze_training_load', arguments: { days: 90 } } },
  ])
  const last = await frame.locator('#values dd').first().textContent()
  await frame.locator('#chart').hover({ position: { x: 60, y: 60 } })
  await expect.poll(() => frame.locator('#values dd').first().textContent()).not.toBe(last)
  await changeTheme('dark')
  await frame.locator('html[data-theme=dark]').waitFor()
  expect([loaded, thrown]).toEqual([[], []])
})

test('an answer in TOON has no data for programs, so the page asks for it', async () => {
  const client = await overStdio('fitness', temporaryFolder())
  await client.callTool({ name: 'connect_provider', arguments: { provider: 'synthetic' } })
  const { frame, forwarded } = await show(client, 'analyze_training_load', { days: 90, format: 'toon' })
  await frame.locator('polyline.ctl').waitFor()
  expect(forwarded).toEqual([
    { method: 'tools/call', params: { name: 'analyze_training_load', arguments: { days: 90 } } },
  ])
})
