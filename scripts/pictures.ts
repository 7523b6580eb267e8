/**
 * `npm run pictures`: the console's pages as PNGs for docs/console.md, light and dark, in Chromium.
 *
 * The server is real and so are its tickets and traffic; only the day is made up.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { openStory, traffic } from '../test/console/story.ts'
import { startChromium } from '../test/services/chromium.ts'

const folder = join(import.meta.dirname, '../docs/pictures')
mkdirSync(folder, { recursive: true })

const house = await openStory()
const busy = (async () => {
  for (let second = 0; second < 75; second++) {
    const started = Date.now()
    await traffic(house, Math.round(40 + 25 * Math.sin(second / 6) + (second % 9 === 0 ? 30 : 0)))
    await sleep(Math.max(0, 1000 - (Date.now() - started)))
  }
})()

const browser = await startChromium()
const shots: readonly (readonly [
  name: string,
  path: string,
  ready: string,
  prepare?: (page: Page) => Promise<void>,
])[] = [
  ['approvals', '#/approvals', '.ticket-list a', async (page) => page.locator('.ticket-list a').first().click()],
  ['tools', '#/tools', '.card', async (page) => page.locator('.card').first().click()],
  ['tenants', '#/tenants', '.table'],
  ['audit', '#/audit', '.table', async (page) => page.getByRole('button', { name: 'Verify chain' }).click()],
  ['live', '#/live', '.requests'],
]

async function take(scheme: 'light' | 'dark', size: { width: number; height: number }, suffix: string): Promise<void> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: size,
    deviceScaleFactor: 1,
    locale: 'en-GB',
  })
  const page = await context.newPage()
  await page.goto(`${house.url}#/live`)
  await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
  if (suffix === '') await page.screenshot({ path: join(folder, `sign-in-${scheme}.png`) })
  await page.goto('about:blank')
  await page.goto(await house.panel.link())
  await page.locator('.frame').waitFor()
  for (const [name, path, ready, prepare] of shots) {
    await page.evaluate(`location.assign(${JSON.stringify(path)})`)
    await page.locator(ready).first().waitFor()
    await prepare?.(page)
    if (name === 'live') await page.waitForTimeout(1500)
    await page.waitForTimeout(400)
    await page.screenshot({ path: join(folder, `${name}${suffix}-${scheme}.png`) })
  }
  await context.close()
}

await sleep(Number(process.env['WARM_MS'] ?? 55_000))
for (const scheme of ['light', 'dark'] as const) {
  await take(scheme, { width: 1280, height: 800 }, '')
  await take(scheme, { width: 390, height: 844 }, '-phone')
}
await browser.close()
await busy
await house.close()
process.exit(0)
