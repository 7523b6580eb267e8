/** Waiting tickets outside the page: notifications that a person asked for, and badges, in Chromium. */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { accessibilityProblems, goTo, openConsolePage } from '../kit/clients/console-page.ts'
import { startChromium } from '../kit/processes/chromium.ts'
import type { ConsoleFixture } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture } from '../kit/servers/console.fixture.ts'

let browser: Browser
let fixture: ConsoleFixture
let agent: string
beforeAll(async () => {
  browser = await startChromium()
  fixture = await openConsoleFixture()
  agent = await fixture.createAgentKey()
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await fixture?.close()
})

interface Recorded {
  readonly asked: number
  readonly shown: readonly { readonly title: string; readonly body: string }[]
  readonly badges: readonly number[]
}

/** Records what the page asks the browser for. The browser's own classes still do it. */
const record = `
  globalThis.recorded = { asked: 0, shown: [], badges: [] }
  const Real = globalThis.Notification
  globalThis.Notification = class extends Real {
    constructor(title, options) { super(title, options); recorded.shown.push({ title, body: options.body }); recorded.last = this }
    // As in a browser that has not asked its person yet.
    static get permission() { return recorded.asked > 0 || localStorage.getItem('sluice-notify') ? Real.permission : 'default' }
    static requestPermission() { recorded.asked++; return Real.requestPermission() }
  }
  for (const [name, count] of [['setAppBadge', (given) => given], ['clearAppBadge', () => 0]]) {
    const real = Navigator.prototype[name]
    if (real) Navigator.prototype[name] = function (given) { recorded.badges.push(count(given)); return real.call(this, given) }
  }
`
const recordedIn = (page: Page): Promise<Recorded> =>
  page.evaluate('({ asked: recorded.asked, shown: recorded.shown, badges: recorded.badges })')
const iconOf = (page: Page): Promise<string> => page.evaluate(`document.querySelector('link[rel=icon]').href`)

/** Waits until an expression is true. The page's own policy forbids Playwright's way. */
const until = (page: Page, expression: string): Promise<void> =>
  vi.waitFor(async () => expect(await page.evaluate(expression)).toBe(true), { timeout: 60_000, interval: 20 })

/** Opens the console anew with the recorder, with a permission that the person gave or not. */
async function openRecorded(permissions: readonly string[]): Promise<Page> {
  const page = await openConsolePage(browser, fixture)
  await page.context().grantPermissions([...permissions], { origin: new URL(page.url()).origin })
  await page.context().addInitScript(record)
  await page.reload()
  await page.getByRole('navigation').waitFor()
  return page
}

test('notifications are asked for by the button only, and name tool and caller', { timeout: 120_000 }, async () => {
  const page = await openRecorded(['notifications'])
  const button = page.getByRole('button', { name: 'Notify me of new tickets' })
  await button.waitFor()
  await fixture.call(agent, 'refund', { order: 'N-0' })
  await page.locator('.ticket-list a', { hasText: 'N-0' }).waitFor()
  // Nothing was asked on load, and nothing is shown before the button is pressed.
  expect(await recordedIn(page)).toMatchObject({ asked: 0, shown: [] })
  expect(await button.getAttribute('aria-pressed')).toBe('false')

  await button.click()
  await page
    .locator('button[aria-pressed=true]', { has: page.locator('svg') })
    .first()
    .waitFor()
  expect(await button.getAttribute('aria-pressed')).toBe('true')
  expect(await recordedIn(page)).toMatchObject({ asked: 1, shown: [] })
  // While the person looks at the page, the list is enough.
  await fixture.call(agent, 'refund', { order: 'N-1' })
  await page.locator('.ticket-list a', { hasText: 'N-1' }).waitFor()
  // From now on the person is in another window.
  await page.evaluate('document.hasFocus = () => false')
  await fixture.call(agent, 'refund', { order: 'N-2-secret' })
  await until(page, 'recorded.shown.length > 0')
  const { shown } = await recordedIn(page)
  expect(shown).toEqual([{ title: 'A call needs your approval', body: expect.stringMatching(/^\S+\/refund for /) }])
  // Arguments do not appear on a locked screen.
  expect(JSON.stringify(shown)).not.toContain('N-2-secret')
  // A click on it opens the ticket.
  await goTo(page, '#/live')
  await page.evaluate('recorded.last.onclick()')
  await page.getByRole('heading', { name: 'refund' }).waitFor()
  await page.getByText('N-2-secret').first().waitFor()

  // The choice is kept, and the button ends it.
  await page.reload()
  await button.waitFor()
  expect(await button.getAttribute('aria-pressed')).toBe('true')
  expect(await accessibilityProblems(page)).toEqual([])
  await button.click()
  await until(page, `localStorage.getItem('sluice-notify') === 'off'`)
  await page.context().close()
})

test('the title, the icon and the badge of the app show how many wait', { timeout: 120_000 }, async () => {
  const own = await openConsoleFixture()
  const key = await own.createAgentKey()
  const page = await openConsolePage(browser, own)
  await page.context().addInitScript(record)
  await page.reload()
  await page.getByRole('navigation').waitFor()
  const blocked: string[] = []
  page.on('console', (message) => message.type() === 'error' && blocked.push(message.text()))
  const quiet = await iconOf(page)
  expect(await page.title()).toBe('Approvals · Sluice')
  await own.call(key, 'refund', { order: 'B-1' })
  await until(page, `document.title === '(1) Approvals · Sluice'`)
  const waiting = await iconOf(page)
  expect(waiting).not.toBe(quiet)
  // The policy of the page allows the icon.
  expect(await page.evaluate(`fetch(${JSON.stringify(waiting)}).then((answer) => answer.status)`)).toBe(200)
  await own.call(key, 'refund', { order: 'B-2' })
  await until(page, `document.title === '(2) Approvals · Sluice'`)
  await until(page, 'recorded.badges.includes(2)')
  const { tickets } = await own.approvals.list({ status: 'pending' })
  for (const { id } of tickets)
    await own.approvals.decide(
      id,
      { approved: false },
      { subject: 'olga', via: 'console', tenants: 'all', operator: true },
    )
  await until(page, `document.title === 'Approvals · Sluice'`)
  expect(await iconOf(page)).toBe(quiet)
  expect((await recordedIn(page)).badges.at(-1)).toBe(0)
  expect(blocked).toEqual([])
  await page.context().close()
  await own.close()
})
