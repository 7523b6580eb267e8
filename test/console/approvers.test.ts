/** What an approver does in the console, in a real browser: reading, deciding, sorting, and signing in. */

import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ConsolePageOptions } from '../kit/clients/console-page.ts'
import { aConsoleContext, accessibilityProblems, goTo, openConsolePage } from '../kit/clients/console-page.ts'
import { startChromium } from '../kit/processes/chromium.ts'
import type { ConsoleFixture, ConsoleFixtureOptions } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture } from '../kit/servers/console.fixture.ts'
import { openDemoConsole } from '../kit/servers/demo-console.fixture.ts'

const slowTest = 60_000
const patient = { timeout: 3 * slowTest }

let browser: Browser
beforeAll(async () => {
  browser = await startChromium()
}, 600_000)
afterAll(() => browser?.close())
const errors: string[] = []
afterEach(() => expect(errors.splice(0)).toEqual([]))

async function aConsole(options: ConsoleFixtureOptions = {}): Promise<ConsoleFixture> {
  const fixture = await openConsoleFixture(options)
  onTestFinished(() => fixture.close())
  return fixture
}
async function enter(fixture: ConsoleFixture, options: ConsolePageOptions = {}): Promise<Page> {
  const page = await openConsolePage(browser, fixture, options)
  page.on('pageerror', (thrown) => errors.push(thrown.message))
  onTestFinished(() => page.context().close())
  return page
}
const row = (page: Page, text: string): Locator => page.locator('.ticket-list a', { hasText: text })
const approve = (page: Page): Locator => page.getByRole('button', { name: 'Approve A' })
const enabled = async (button: Locator): Promise<void> => button.and(button.page().locator(':enabled')).waitFor()
const statusOf = async ({ approvals }: ConsoleFixture, order: string): Promise<string | undefined> =>
  (await approvals.list()).tickets.find((ticket) => ticket.arguments.includes(`"${order}"`))?.status

const code = Array.from({ length: 120 }, (_, at) => `(step ${at} "p\u0430y"\u200b)`).join('\n')

describe('a long string', patient, () => {
  test('is a block of numbered lines with its marks, and exact JSON on request', async () => {
    const fixture = await aConsole()
    const agent = await fixture.createAgentKey()
    await fixture.call(agent, 'refund', { order: 'block-1', nested: { code: `first\n\tse\u202econd` } })
    const page = await enter(fixture)
    await row(page, 'block-1').click()
    const block = page.getByRole('region', { name: 'nested.code', exact: true })
    await block.waitFor()
    const lines = block.locator('.line')
    await expect.poll(() => lines.allInnerTexts()).toEqual(['first\n', expect.stringContaining('RLO')])
    await page.getByText('14 characters, 2 lines').waitFor()
    const json = page.getByRole('region', { name: 'Arguments, as JSON' })
    await expect.poll(() => json.innerText()).toContain('see nested.code below')
    await page.getByText('One character is invisible').waitFor()
    await page.getByRole('button', { name: 'Exact JSON' }).click()
    await block.waitFor({ state: 'detached' })
    await expect.poll(() => json.innerText()).toContain('"code": "first\\n\\tse')
    await expect.poll(() => json.locator('.hidden').innerText()).toBe('RLO')
  })

  test.each([
    ['by the mouse', {}],
    ['on a phone', { phone: true, dark: true }],
  ])('can be approved only after its end has been on screen: %s', async (_, opening) => {
    const fixture = await aConsole()
    await fixture.call(await fixture.createAgentKey(), 'refund', { order: 'long-1', code })
    const page = await enter(fixture, opening)
    await row(page, 'long-1').click()
    const button = page.getByRole('button', { name: /^Approve( A)?$/ })
    await page.getByText('To approve, scroll to the end of').waitFor()
    await expect.poll(() => page.locator('.code .line').count()).toBe(124)
    await expect.poll(() => button.isDisabled()).toBe(true)
    await page.getByRole('region', { name: 'Arguments, as JSON' }).focus()
    await page.getByText('To approve, scroll to the end of code.').waitFor()
    await expect.poll(() => button.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Go to the end of code' }).click()
    await enabled(button)
    await expect.poll(() => page.getByText('To approve, scroll').count()).toBe(0)
  })

  test('is read to its end by the keyboard', async () => {
    const fixture = await aConsole()
    await fixture.call(await fixture.createAgentKey(), 'refund', { order: 'long-2', code })
    const page = await enter(fixture)
    await row(page, 'long-2').click()
    await page.getByRole('region', { name: 'Arguments, as JSON' }).focus()
    await page.getByText('To approve, scroll to the end of code.').waitFor()
    const block = page.getByRole('region', { name: 'code', exact: true })
    await block.focus()
    // The arrows scroll the block that has the focus, and do not move through the list.
    await page.keyboard.press('ArrowDown')
    expect(await block.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
    await page.keyboard.press('End')
    await enabled(approve(page))
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    await expect.poll(() => statusOf(fixture, 'long-2'), { timeout: slowTest }).toBe('approved')
  })
})

describe('after a decision', patient, () => {
  test('a sentence says what may run, it is announced, and the next ticket has the focus', async () => {
    const fixture = await aConsole()
    const agent = await fixture.createAgentKey()
    for (const order of ['after-1', 'after-2', 'after-3']) await fixture.call(agent, 'refund', { order })
    const page = await enter(fixture)
    await row(page, 'after-3').waitFor()
    // Tickets of the same millisecond are in any order.
    const rows = (await page.locator('.ticket-list a').allInnerTexts()).map((text) => /after-\d/.exec(text)?.[0] ?? '')
    const following = rows[rows.indexOf('after-1') + 1] ?? rows[0] ?? ''
    await row(page, 'after-1').click()
    await approve(page).click()
    const next = page.getByRole('button', { name: 'Next (2)' })
    await next.waitFor()
    const sentence = /Approved\. agent may run refund once, until \d\d:\d\d\./
    await expect.poll(() => page.getByRole('status').first().innerText()).toMatch(sentence)
    await expect.poll(() => page.locator('.outcome').innerText()).toMatch(sentence)
    await expect.poll(() => focused(page)).toBe('Next (2)')
    await page.keyboard.press('Enter')
    await page.locator('.code').getByText(following).waitFor()
    await expect.poll(() => focused(page)).toBe('refund')
  })

  test('an approval is taken back until it has run', async () => {
    const fixture = await aConsole()
    const agent = await fixture.createAgentKey()
    const refund = async (order: string): Promise<string> =>
      JSON.stringify(await fixture.call(agent, 'refund', { order }))
    for (const order of ['back-1', 'back-2']) await refund(order)
    const page = await enter(fixture)
    await row(page, 'back-1').click()
    await approve(page).click()
    await page.getByRole('button', { name: 'Take back' }).click()
    await page.locator('.outcome', { hasText: 'Taken back. agent cannot run it.' }).waitFor()
    expect(await refund('back-1')).not.toContain('refunded')
    await page.getByRole('button', { name: 'Next (1)' }).click()
    await approve(page).click()
    await page.getByRole('button', { name: 'Take back' }).waitFor()
    expect(await refund('back-2')).toContain('refunded')
    await page.locator('.outcome', { hasText: 'refund ran.' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Take back' }).count()).toBe(0)
    await page.getByRole('region', { name: 'The result' }).getByText('refunded back-2').waitFor()
    await page.locator('.block-head .chip', { hasText: 'succeeded' }).waitFor()
  })

  test('the ticket that opens then cannot be approved for 700 ms', async () => {
    const fixture = await aConsole()
    const agent = await fixture.createAgentKey()
    for (const order of ['guard-1', 'guard-2']) await fixture.call(agent, 'refund', { order })
    const context = await aConsoleContext(browser)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.clock.install()
    await page.goto(await fixture.consoleApp.link())
    await row(page, 'guard-1').click()
    await approve(page).click()
    const next = page.getByRole('button', { name: 'Next (1)' })
    await next.waitFor()
    await page.clock.pauseAt(Date.now() + 60_000)
    await next.click()
    let elapsed = 0
    const pass = async (ms: number): Promise<void> => {
      await page.clock.runFor(ms)
      elapsed += ms
    }
    // The page needs its timers to draw the ticket, so the clock advances a little meanwhile.
    const shown = page.locator('.code').getByText('guard-2')
    while (elapsed < 500 && !(await shown.isVisible())) await pass(1)
    await shown.waitFor()
    // The page looks for the end of the arguments in these steps.
    while (elapsed < 600) await pass(20)
    await expect.poll(() => page.getByText('To approve, scroll').count()).toBe(0)
    expect(await approve(page).isDisabled()).toBe(true)
    while (elapsed < 2_000) await pass(20)
    await enabled(approve(page))
    expect(await statusOf(fixture, 'guard-2')).toBe('pending')
  })

  test('of one of two people, the ticket says that one more must approve', async () => {
    const fixture = await aConsole({ rules: [{ tool: 'refund', approval: 'always', needed: 2 }] })
    await fixture.call(await fixture.createAgentKey(), 'refund', { order: 'two-1' })
    const page = await enter(fixture)
    await row(page, 'two-1').getByText('0 of 2').waitFor()
    await row(page, 'two-1').click()
    await page.getByText('of the rule: tool refund: needs an approval, 2 of all who may decide').waitFor()
    await approve(page).click()
    await page.locator('.outcome', { hasText: '1 of 2, one more person must approve.' }).waitFor()
    expect(await statusOf(fixture, 'two-1')).toBe('pending')
  })
})

/** The text of the focused element. */
const focused = async (page: Page): Promise<string> =>
  String(await page.evaluate('document.activeElement?.innerText ?? ""')).trim()

describe('many tickets', patient, () => {
  async function aCrowd(): Promise<{ readonly fixture: ConsoleFixture; readonly page: Page; readonly secret: string }> {
    const fixture = await openDemoConsole()
    onTestFinished(() => fixture.close())
    const secret = await fixture.createAgentKey('stubborn', ['acme'])
    for (let at = 0; at < 10; at++) await fixture.call(secret, 'refund', { order: `S-${at}`, why: `reason ${at}` })
    return { fixture, page: await enter(fixture), secret }
  }

  test('are in groups with counts, filtered by tool, caller, server and text, and have their server in each row', async () => {
    const { page } = await aCrowd()
    const group = page.locator('.group-head', { hasText: 'refund stubborn, shop' })
    await expect.poll(() => group.locator('.count').innerText()).toBe('10')
    await expect.poll(() => row(page, 'S-3').innerText()).toContain('stubborn · acme · shop')
    await page.getByRole('button', { name: 'Group' }).click()
    await group.waitFor({ state: 'detached' })
    const orders = (): Promise<number> => page.locator('.ticket-list a').count()
    await page.getByLabel('Tool').selectOption('send_letter')
    await expect.poll(orders).toBe(1)
    await page.getByLabel('Tool').selectOption('')
    await page.getByLabel('Caller').selectOption('stubborn')
    await expect.poll(orders).toBe(10)
    await page.getByLabel('Search tickets').fill('REASON 7')
    await expect.poll(orders).toBe(1)
    await page.getByLabel('Caller').selectOption('')
    await page.getByLabel('Search tickets').fill('')
    await page.getByLabel('Server').selectOption('warehouse')
    await expect.poll(orders).toBe(1)
    await page.getByLabel('Search tickets').fill('nothing like it')
    await page.getByText('No tickets match the filter').waitFor()
  })

  test('are denied together, and their key is revoked', async () => {
    const { fixture, page, secret } = await aCrowd()
    await page.getByRole('button', { name: 'Deny these 10 of refund by stubborn' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('refund, asked by stubborn').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByLabel('Search tickets').fill('reason 2')
    await page.getByText('1 matches').waitFor()
    await page.getByRole('button', { name: 'Deny these', exact: true }).click()
    await dialog.getByRole('button', { name: 'Deny', exact: true }).click()
    await page.getByText('Denied 1 ticket.').first().waitFor()
    expect(await statusOf(fixture, 'S-2')).toBe('denied')
    await page.getByLabel('Search tickets').fill('')
    await page.getByRole('button', { name: 'Deny these 9 of refund by stubborn' }).click()
    await dialog.getByRole('button', { name: 'Deny and revoke the key' }).click()
    await page.getByText('Denied 9 tickets. Revoked 1 key.').first().waitFor()
    for (let at = 0; at < 10; at++) expect(await statusOf(fixture, `S-${at}`)).toBe('denied')
    await expect.poll(() => row(page, 'A-10577').count()).toBe(1)
    fixture.clock.advance(5_001)
    expect(await fixture.call(secret, 'price', { article: 'x' })).toMatchObject({ error: { code: 40100 } })
  })

  test('the ticket itself offers to deny it and to revoke the key', async () => {
    const { fixture, page } = await aCrowd()
    await row(page, 'S-4').click()
    await page.getByRole('button', { name: 'Deny and revoke the key…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deny and revoke the key' }).click()
    await page.getByText('Denied 1 ticket. Revoked 1 key.').first().waitFor()
    expect(await statusOf(fixture, 'S-4')).toBe('denied')
    expect(await statusOf(fixture, 'S-5')).toBe('pending')
  })

  test('the keys move through the list from anywhere, and ? shows them', async () => {
    const { page } = await aCrowd()
    // A key that is pressed before the list is there moves nothing.
    await row(page, 'A-10577').waitFor()
    await row(page, 'A-10600').waitFor()
    await page.getByRole('link', { name: 'Live' }).focus()
    await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toContain('A-10577')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toContain('A-10600')
    await page.keyboard.press('Enter')
    await page.locator('.code').getByText('A-10600').first().waitFor()
    await page.getByRole('button', { name: 'Group' }).focus()
    await page.keyboard.press('k')
    await expect.poll(() => focused(page)).toContain('A-10577')
    await page.getByLabel('Search tickets').focus()
    await page.keyboard.type('jk?')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await page.getByRole('button', { name: 'Group' }).focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Next ticket in the list').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

describe('the context', patient, () => {
  test('has what the caller did before, and links between ticket, live requests and audit', async () => {
    const fixture = await aConsole()
    const agent = await fixture.createAgentKey('busy')
    await fixture.call(agent, 'price', { article: 'lamp' })
    await fixture.call(agent, 'refund', { order: 'ctx-1' })
    const page = await enter(fixture, { path: '#/live' })
    const request = page.locator('.requests .opens', { hasText: 'refund' })
    await request.locator('.chip.warn', { hasText: 'waits for an approval' }).waitFor()
    await request.click()
    await page.getByRole('link', { name: 'Open its ticket' }).click()
    await page.locator('.code').getByText('ctx-1').waitFor()
    await page.getByText('the tool asks for it').waitFor()
    await page.locator('.calls li', { hasText: 'price' }).getByText('succeeded').waitFor()
    await page.getByRole('link', { name: 'This ticket in the audit' }).click()
    await page.locator('.audit').getByText('busy asked for an approval of refund').waitFor()
    await page.locator('.audit').getByRole('link', { name: 'ticket' }).first().click()
    await page.locator('.code').getByText('ctx-1').waitFor()
  })

  test('the audit opens on all tenants, in words, and fits a phone', async () => {
    const fixture = await aConsole()
    for (const tenant of ['acme', 'globex'])
      await fixture.call(await fixture.createAgentKey(`of-${tenant}`, [tenant]), 'price', { article: 'lamp' })
    const page = await enter(fixture, { path: '#/audit', phone: true })
    const card = (tenant: string): Locator => page.locator('.audit tr', { hasText: `of-${tenant} called price` })
    for (const tenant of ['acme', 'globex']) await card(tenant).getByText('succeeded').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await card('acme').click()
    await page.locator('.fields').getByText('hash').waitFor()
    await page.getByRole('button', { name: 'Verify chains' }).click()
    await page.getByText(/2 tenants, \d+ records, intact/).waitFor()
    for (const path of ['#/tenants', '#/live']) {
      await goTo(page, path)
      await page.locator('.cards-on-phone').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
  })
})

describe('signing in', patient, () => {
  test('opens the page that was asked for, in every open tab', async () => {
    const fixture = await aConsole()
    await fixture.call(await fixture.createAgentKey(), 'refund', { order: 'asked-1' })
    const [ticket] = (await fixture.approvals.list()).tickets
    const context = await aConsoleContext(browser)
    onTestFinished(() => context.close())
    const [first, second] = [await context.newPage(), await context.newPage()]
    await first.goto(`${fixture.url}approvals/${ticket?.id}`)
    await first.getByText('sluice console link').waitFor()
    await second.goto(await fixture.consoleApp.link())
    for (const page of [first, second]) await page.locator('.code').getByText('asked-1').waitFor()
    expect(second.url()).toContain(`#/approvals/${ticket?.id}`)
    // Both tabs have the token of the new session.
    await approve(first).click()
    await first.locator('.outcome', { hasText: 'Approved.' }).waitFor()
  })

  test('works by a link that is pasted into the address of an open page', async () => {
    const fixture = await aConsole()
    const context = await aConsoleContext(browser)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(`${fixture.url}#/audit`)
    await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    await goTo(page, `#${(await fixture.consoleApp.link()).split('#')[1]}`)
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    expect(page.url()).toBe(`${fixture.url}#/audit`)
  })
})

describe('axe finds nothing', { timeout: 5 * slowTest }, () => {
  test.each([
    ['in light colours', {}],
    ['in dark colours', { dark: true }],
    ['on a phone', { phone: true }],
    ['on a phone in dark colours', { phone: true, dark: true }],
  ])('%s: blocks, groups, dialogs, a decided ticket, and signing in', async (_, opening) => {
    const fixture = await aConsole({ maxPending: 30 })
    const agent = await fixture.createAgentKey()
    await fixture.call(agent, 'price', { article: 'lamp' })
    for (let at = 0; at < 10; at++)
      await fixture.call(agent, 'refund', { order: `axe-${at}`, note: 'one\n\ttwo\u200b' })
    const page = await enter(fixture, opening)
    const check = async (what: string): Promise<void> =>
      expect([what, await accessibilityProblems(page)]).toEqual([what, []])
    await page.locator('.group-head').waitFor()
    await check('groups')
    await page.getByRole('button', { name: 'Deny these' }).click()
    await page.getByRole('dialog').waitFor()
    await check('the deny dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Show the keys' }).click()
    await check('the keys')
    await page.keyboard.press('Escape')
    await row(page, 'axe-3').click()
    await page.locator('.calls li').first().waitFor()
    await page.getByText('Approve, and do not ask again').click()
    await check('a ticket with a block')
    await page.locator('.end-mark').last().scrollIntoViewIfNeeded()
    await page.getByText('Approve, and do not ask again').click()
    const button = page.getByRole('button', { name: /^Approve( A)?$/ })
    if (await button.isDisabled()) await page.locator('.calls').scrollIntoViewIfNeeded()
    await enabled(button)
    await button.click()
    await page.locator('.outcome').waitFor()
    await check('a decided ticket')
    await goTo(page, '#/live')
    await page.locator('.requests .opens').first().click()
    await check('an open request')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    await check('signing in')
  })
})
