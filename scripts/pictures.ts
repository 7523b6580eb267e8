/**
 * `npm run pictures`: captures the console's pages as PNGs for docs/console.md, light and dark, in Chromium.
 *
 * The server, its tickets and its traffic are real; only the date is made up.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { startChromium } from '../test/kit/processes/chromium.ts'
import { generateTraffic, openDemoConsole } from '../test/kit/servers/demo-console.fixture.ts'
import { openDemoGateway } from '../test/kit/servers/demo-gateway.fixture.ts'

const folder = join(import.meta.dirname, '../docs/pictures')
mkdirSync(folder, { recursive: true })

const clientText = (member: string): string =>
  JSON.stringify(
    {
      [member]: {
        'sluice-shop': {
          ...{ type: 'http', url: 'https://mcp.example.com/shop/mcp' },
          headers: { Authorization: 'Bearer YOUR_API_KEY' },
        },
      },
    },
    undefined,
    2,
  )
const demoGateway = await openDemoGateway()
const demo = await openDemoConsole({
  ...{ pastMinutes: 24 * 60, gateway: () => demoGateway.team, also: demoGateway.endpoints },
  clients: () => [
    { client: 'VS Code', file: 'vscode-mcp.json', destination: '.vscode/mcp.json', text: clientText('servers') },
    { client: 'Cursor', file: 'cursor-mcp.json', destination: '.cursor/mcp.json', text: clientText('mcpServers') },
  ],
})
for (const server of demo.others) await server.ready()
demoGateway.changeDefinition()
await demo.createAgentKey('intern', ['acme'], [])
const browser = await startChromium()
interface Shot {
  readonly name: string
  /** The page, if it is not `name`. */
  readonly path?: string
  /** A selector that exists once the page is ready. */
  readonly ready: string
  readonly prepare?: (page: Page) => Promise<void>
}
const approvals: Shot = {
  name: 'approvals',
  ready: '.ticket-list a',
  async prepare(page) {
    await page.locator('.ticket-list a').first().click()
    // On a phone the end of the arguments is below the screen.
    await page.locator('.end-mark').last().scrollIntoViewIfNeeded()
    await page
      .getByRole('button', { name: /^Approve( A)?$/ })
      .and(page.locator(':enabled'))
      .waitFor()
    await page.getByRole('heading', { name: 'refund' }).scrollIntoViewIfNeeded()
  },
}
/** A string with line breaks, as a block. */
const block: Shot = {
  name: 'block',
  path: 'approvals',
  ready: '.ticket-list a',
  async prepare(page) {
    await page.locator('.ticket-list a', { hasText: 'send_letter' }).click()
    await page.getByRole('button', { name: 'Approve A' }).and(page.locator(':enabled')).waitFor()
  },
}
const live: Shot = { name: 'live', ready: '.requests', prepare: (page) => page.waitForTimeout(1500) }
const audit: Shot = {
  name: 'audit',
  ready: '.table',
  async prepare(page) {
    await page.getByRole('button', { name: 'Verify chain' }).and(page.locator(':enabled')).click()
    await page.locator('.verdict .chip').waitFor()
  },
}
const day: Shot = { name: 'day', path: 'live/day', ready: '.plot canvas' }
const shots: readonly Shot[] = [
  approvals,
  block,
  live,
  { name: 'tools', ready: '.card', prepare: async (page) => page.locator('.card').first().click() },
  { name: 'tenants', ready: '.table' },
  { name: 'upstreams', ready: '.line.added' },
  { name: 'access', ready: '.table' },
  { name: 'clients', ready: '.client' },
  audit,
]
const desktop = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }

async function take(
  scheme: 'light' | 'dark',
  size: typeof desktop,
  suffix: string,
  shots: readonly Shot[],
): Promise<void> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: size,
    deviceScaleFactor: 1,
    locale: 'en-GB',
  })
  const page = await context.newPage()
  await page.goto(await demo.consoleApp.link())
  await page.locator('.frame').waitFor()
  for (const { name, path = name, ready, prepare } of shots) {
    await page.evaluate(`location.hash = '#/${path}'`)
    await page.locator(ready).first().waitFor()
    await prepare?.(page)
    // Waits for fonts, transitions and the last answer.
    await page.waitForTimeout(400)
    await page.screenshot({ path: join(folder, `${name}${suffix}-${scheme}.png`) })
  }
  await context.close()
}

// The day comes first: the traffic for the other pages would be its highest minutes by far.
for (const scheme of ['light', 'dark'] as const) await take(scheme, desktop, '', [day])

const trafficRunning = (async () => {
  for (let second = 0; second < 170; second++) {
    const started = Date.now()
    await generateTraffic(demo, Math.round(40 + 25 * Math.sin(second / 6) + (second % 9 === 0 ? 30 : 0)))
    await sleep(Math.max(0, 1000 - (Date.now() - started)))
  }
})()
// The plots show five minutes; two of them are enough.
await sleep(120_000)
for (const scheme of ['light', 'dark'] as const) await take(scheme, desktop, '', shots)
await take('light', phone, '-phone', [approvals, audit])
await take('dark', phone, '-phone', [live])
await browser.close()
await trafficRunning
await demo.close()
await demoGateway.close()
process.exit(0)
