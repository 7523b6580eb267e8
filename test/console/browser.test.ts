/** The console in a real browser: signing in, deciding, watching, searching. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { defineServer, tool } from 'sluice'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startChromium } from '../kit/processes/chromium.ts'
import type { ConsoleFixture, ConsoleFixtureOptions } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture, stuckDefinition } from '../kit/servers/console.fixture.ts'

const slowTest = 60_000

let browser: Browser
let fixture: ConsoleFixture
let agent: string
const opened: BrowserContext[] = []
const consoles: ConsoleFixture[] = []
const thrownInPages: string[] = []
beforeAll(async () => {
  browser = await startChromium()
  fixture = await openConsoleFixture()
  agent = await fixture.createAgentKey()
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await fixture?.close()
})
afterEach(async () => {
  for (const context of opened.splice(0)) await context.close()
  for (const each of consoles.splice(0)) await each.close()
  expect(thrownInPages.splice(0)).toEqual([])
})

interface Opening {
  readonly path?: string
  readonly phone?: boolean
  readonly dark?: boolean
}

/** A separate browser context, closed with the test. */
async function aContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(slowTest)
  opened.push(context)
  return context
}
/** A separate console for one test. */
async function ownConsole(options: ConsoleFixtureOptions = {}): Promise<ConsoleFixture> {
  const own = await openConsoleFixture(options)
  consoles.push(own)
  return own
}

/** Signs in by a link and opens a page; errors of the page fail the test. */
async function enter(
  { path = '#/approvals', phone = false, dark = false }: Opening = {},
  at: ConsoleFixture = fixture,
): Promise<Page> {
  const context = await aContext({
    colorScheme: dark ? 'dark' : 'light',
    viewport: phone ? { width: 390, height: 844 } : { width: 1200, height: 800 },
  })
  const page = await context.newPage()
  page.on('pageerror', (thrown) => thrownInPages.push(thrown.message))
  // Each test signs in anew, more often than the limit allows.
  at.clock.advance(30_000)
  await page.goto(await at.consoleApp.link())
  await page.getByRole('navigation').waitFor()
  await go(page, path)
  return page
}
const go = (page: Page, path: string): Promise<unknown> => page.evaluate(`location.hash = ${JSON.stringify(path)}`)

/** Requests a refund of the order and opens its ticket in the page. */
async function ticketFor(page: Page, order: string): Promise<void> {
  await fixture.call(agent, 'refund', { order })
  await page.locator('.ticket-list a', { hasText: order }).click()
  await page.getByRole('heading', { name: 'refund' }).waitFor()
}
const statusOf = async (order: string): Promise<string | undefined> =>
  (await fixture.approvals.list()).tickets.find((ticket) => ticket.arguments.includes(`"${order}"`))?.status

describe('signing in', { timeout: 3 * slowTest }, () => {
  test('the link signs in once and disappears from the address', async () => {
    const link = await fixture.consoleApp.link()
    const context = await aContext()
    const page = await context.newPage()
    await page.goto(link)
    await page.getByRole('heading', { name: 'Approvals' }).waitFor()
    expect(page.url()).not.toContain(link.split('/').at(-1))
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' })
    expect(cookie?.name).toMatch(/^__Host-/)
    const other = await aContext()
    const late = await other.newPage()
    await late.goto(link)
    await late.getByRole('alert').getByText('invalid or has expired').waitFor()
  })

  test('an operator key signs in, an invalid one is refused with a message', async () => {
    const { secret } = await fixture.consoleApp.operators.create({ name: 'olga' })
    const context = await aContext()
    const page = await context.newPage()
    await page.goto(fixture.url)
    await page.getByLabel('Or use an operator key').fill('op_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('invalid or has expired').waitFor()
    await page.getByLabel('Or use an operator key').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('.who', { hasText: 'olga' }).waitFor()
  })

  test('after signing out neither the back button nor an open page decides anything', async () => {
    const page = await enter()
    await ticketFor(page, 'left-open')
    const second = await page.context().newPage()
    await second.goto(`${fixture.url}#/audit`)
    await second.getByRole('button', { name: 'Sign out' }).click()
    await second.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    await second.goBack()
    await second.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    await second.goto('about:blank')
    await second.goBack()
    await second.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    const signIn = page.getByRole('heading', { name: 'Sign in to Sluice' })
    // The open page may have noticed by itself, and then there is nothing to click.
    const approve = page.getByRole('button', { name: 'Approve' })
    if (!(await signIn.isVisible())) await approve.click({ timeout: 5_000 }).catch(() => {})
    await signIn.waitFor()
    expect(await statusOf('left-open')).toBe('pending')
  })

  test('no other page can put it into a frame', async () => {
    const context = await aContext()
    const page = await context.newPage()
    await page.setContent(`<iframe src="${fixture.url}"></iframe>`)
    const frame = page.frames().find((each) => each !== page.mainFrame())
    await expect.poll(() => frame?.url(), { timeout: slowTest }).toMatch(/^chrome-error:/)
  })
})

describe('approving', { timeout: 3 * slowTest }, () => {
  test('a ticket appears by itself, is shown completely, and runs once it is approved', async () => {
    const page = await enter()
    await fixture.call(agent, 'refund', { order: 'live-1', reason: 'pay \u202eeno\u202c now', to: 'p\u0430ypal' })
    await page.locator('.ticket-list a', { hasText: 'live-1' }).click()
    await expect
      .poll(async () => (await page.locator('.ticket-body h3').allInnerTexts()).slice(0, 2))
      .toEqual(['Acts on', 'Arguments'])
    await expect.poll(() => page.locator('.ticket-body .facts').first().innerText()).toMatch(/Order\s+live-1/)
    const shown = page.locator('.code')
    await shown.getByText('"live-1"').waitFor()
    await expect.poll(() => shown.innerText()).toMatch(/pay RLOenoPDF now/)
    await expect.poll(() => shown.locator('.alike').innerText()).toBe('\u0430')
    await page.getByRole('alert').getByText('3 characters').waitFor()
    await page.getByText('Pays money back to a customer').waitFor()
    await expect.poll(() => page.locator('.digest code').innerText()).toMatch(/^[0-9a-f]{64}$/)
    await page.getByPlaceholder('A note').fill('looks right')
    await page.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => statusOf('live-1'), { timeout: slowTest }).toBe('approved')
    const answer = await fixture.call(agent, 'refund', {
      order: 'live-1',
      reason: 'pay \u202eeno\u202c now',
      to: 'p\u0430ypal',
    })
    expect(JSON.stringify(answer)).toContain('refunded live-1')
    await page.getByRole('button', { name: 'Decided' }).click()
    await page.locator('.ticket-list a', { hasText: 'live-1' }).click()
    await page.getByText('looks right').waitFor()
  })

  test('a denied ticket does not run', async () => {
    const page = await enter()
    await ticketFor(page, 'deny-1')
    await page.getByRole('button', { name: 'Deny D' }).click()
    await expect.poll(() => statusOf('deny-1'), { timeout: slowTest }).toBe('denied')
    expect(JSON.stringify(await fixture.call(agent, 'refund', { order: 'deny-1' }))).not.toContain('refunded')
  })

  test('what changed since the last approved call is shown', async () => {
    const page = await enter()
    await ticketFor(page, 'change-1')
    await page.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => statusOf('change-1'), { timeout: slowTest }).toBe('approved')
    await ticketFor(page, 'change-2')
    const row = page.locator('.changes tbody tr')
    await row.waitFor()
    await expect.poll(() => row.innerText()).toMatch(/order\s+"change-1"\s+"change-2"/)
  })

  test('an expired one cannot be decided, and says so', async () => {
    const page = await enter()
    await ticketFor(page, 'late-1')
    const approve = page.getByRole('button', { name: 'Approve' })
    await approve.and(page.locator(':enabled')).waitFor()
    fixture.clock.advance(10 * 60_000 + 1)
    const expired = page.getByText(/expired/).first()
    // The page may notice before the click, and then the button is not there.
    await Promise.race([approve.click().catch(() => {}), expired.waitFor()])
    await expired.waitFor()
    expect(await statusOf('late-1')).toBe('expired')
  })

  test('the keyboard is enough', async () => {
    const page = await enter()
    await fixture.call(agent, 'refund', { order: 'keys-1' })
    const row = page.locator('.ticket-list a', { hasText: 'keys-1' })
    await row.waitFor()
    const all = await page.locator('.ticket-list a').allInnerTexts()
    const at = all.findIndex((text) => text.includes('keys-1'))
    await page.locator('.ticket-list a').first().focus()
    for (let down = 0; down < at; down++) await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.locator('.code').getByText('keys-1').waitFor()
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor()
    await page.keyboard.press('a')
    await page.keyboard.press('Enter')
    await expect.poll(() => statusOf('keys-1'), { timeout: slowTest }).toBe('approved')
  })

  test('arguments of maximal length are shown to their end before they can be approved', async () => {
    const page = await enter()
    const words = Array.from({ length: 3_000 }, (_, at) => `line ${at} of many`)
    await fixture.call(agent, 'refund', { order: 'big-1', words, zzz: 'the end' })
    await page.locator('.ticket-list a', { hasText: 'big-1' }).click()
    await page.getByText('To approve, scroll to the end of Arguments').waitFor()
    await page.getByRole('button', { name: 'Go to the end' }).click()
    await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor()
    await expect.poll(() => page.locator('.code .line').count()).toBe(3_006)
    await expect.poll(() => page.locator('.code .line').nth(-2).innerText()).toContain('the end')
  })
})

describe('not asking again', { timeout: 3 * slowTest }, () => {
  test('is for these arguments and this time, is listed, and ends when it is revoked or expires', async () => {
    const own = await ownConsole()
    const caller = await own.createAgentKey('nightly')
    const refund = async (order: string): Promise<string> => JSON.stringify(await own.call(caller, 'refund', { order }))
    const page = await enter({}, own)
    async function grant(): Promise<void> {
      await go(page, '#/approvals')
      await page.locator('.ticket-list a', { hasText: 'often' }).first().click()
      await page.getByText('Approve, and do not ask again').click()
      // A week is longer than the operator allows.
      await expect
        .poll(() => page.getByLabel('Duration').locator('option').allInnerTexts())
        .toEqual(['for ten minutes', 'for an hour', 'for a day'])
      await page.getByLabel('Duration').selectOption('for an hour')
      await page.getByRole('button', { name: 'Approve and allow' }).click()
      await page.getByText('Approved. nightly may run refund once').first().waitFor()
    }
    expect(await refund('often')).toContain('approval_required')
    await grant()
    expect(await refund('often')).toContain('refunded often')
    expect(await refund('often')).toContain('refunded often')
    expect(await refund('seldom')).toContain('approval_required')

    await go(page, '#/tenants')
    const row = page.getByRole('region', { name: 'Standing grants' }).locator('tbody tr')
    await row.waitFor()
    await expect
      .poll(() => row.innerText())
      .toMatch(/refund\s+shop\s+nightly · acme\s+exactly {"order":"often"}\s+owner/)
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await refund('often')).toContain('refunded often')
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    expect(await refund('often')).toContain('approval_required')

    await grant()
    expect(await refund('often')).toContain('refunded often')
    own.clock.advance(3_600_001)
    expect(await refund('often')).toContain('approval_required')
    expect((await own.approvals.grants.list()).grants).toEqual([])
  })
})

describe('in doubt', { timeout: 3 * slowTest }, () => {
  test('a call whose process ended says so and does not run again, until a person resolves it', async () => {
    const own = await ownConsole({ definition: stuckDefinition })
    const caller = await own.createAgentKey()
    const refund = async (order: string): Promise<string> => JSON.stringify(await own.call(caller, 'refund', { order }))
    const page = await enter({}, own)
    for (const order of ['lost-1', 'lost-2']) {
      await refund(order)
      await page.locator('.ticket-list a', { hasText: order }).click()
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.locator('.ticket-list a', { hasText: order }).waitFor({ state: 'detached' })
      refund(order).catch(expect.unreachable)
    }
    const statuses = async (): Promise<readonly string[]> =>
      (await own.approvals.list()).tickets.map(({ status }) => status)
    await expect.poll(statuses, { timeout: slowTest }).toEqual(['running', 'running'])
    own.endLease()

    await page.getByRole('button', { name: 'Decided' }).click()
    const inDoubt = (order: string): Locator => page.locator('.ticket-list a', { hasText: order }).getByText('in doubt')
    for (const order of ['lost-1', 'lost-2']) {
      await inDoubt(order).waitFor()
      expect(await refund(order)).toContain('in doubt')
    }
    await inDoubt('lost-1').click()
    await page.getByText('Find out whether it had its effect').waitFor()
    await page.getByRole('button', { name: 'It did not run' }).click()
    await inDoubt('lost-1').waitFor({ state: 'detached' })
    await page.locator('.ticket-list a', { hasText: 'lost-1' }).getByText('approved').waitFor()

    await inDoubt('lost-2').click()
    await page.getByRole('button', { name: 'It ran' }).click()
    await inDoubt('lost-2').waitFor({ state: 'detached' })
    expect(await refund('lost-2')).toContain('approval_required')
  })
})

describe('looking', { timeout: 3 * slowTest }, () => {
  test('requests appear as they are served, and the filters apply to them', async () => {
    const page = await enter({ path: '#/live' })
    await fixture.call(agent, 'price', { article: 'lamp' }, 'my client')
    await page.locator('.requests tr', { hasText: 'my client' }).first().waitFor()
    await fixture.call(agent, 'break', {}, 'my client')
    await page.locator('.requests tr', { hasText: 'failed' }).first().waitFor()
    await page.getByLabel('Outcome').selectOption('failed')
    await expect.poll(() => page.locator('.requests .chip.good').count(), { timeout: slowTest }).toBe(0)
    await fixture.call(agent, 'break', { text: 'a bug' }, 'another client')
    await page.locator('.requests tr', { hasText: 'another client' }).waitFor()
    await expect.poll(() => page.locator('.plot canvas').count()).toBe(2)
  })

  test('a running task is shown with its progress, until it ends', async () => {
    const ended = Promise.withResolvers<string>()
    let report = (_done: number): void => {}
    const slow = tool({
      ...{ name: 'import', description: 'Takes long', task: 'always' },
      run(_input, { progress }) {
        report = (done) => progress(done, 10, `${done} of 10 files`)
        report(1)
        return ended.promise
      },
    })
    const own = await ownConsole({ definition: defineServer({ name: 'shop', version: '1', tools: [slow] }) })
    const page = await enter({ path: '#/live' }, own)
    await own.callAsTask(await own.createAgentKey(), 'import', {})
    const running = page.getByRole('region', { name: 'Running tasks' })
    await running.getByText('1 of 10 files').waitFor()
    await page.locator('.requests .chip.good', { hasText: 'became a task' }).waitFor()
    report(7)
    await running.getByText('7 of 10 files').waitFor()
    ended.resolve('done')
    await running.waitFor({ state: 'detached' })
  })

  test('a request before the stream is open, or while it is paused, is not missing', async () => {
    const page = await enter()
    const letIn = Promise.withResolvers<void>()
    await page.route('**/api/events?live=1', async (route) => {
      await letIn.promise
      await route.continue()
    })
    const asked = page.waitForResponse('**/api/live')
    await go(page, '#/live')
    await (await asked).finished()
    await fixture.call(agent, 'price', { article: 'lamp' }, 'too early')
    letIn.resolve()
    await page.locator('.requests tr', { hasText: 'too early' }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await fixture.call(agent, 'price', { article: 'lamp' }, 'meanwhile')
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator('.requests tr', { hasText: 'meanwhile' }).waitFor()
  })

  test('tools, tenants and keys are listed, and a key can be revoked', async () => {
    await fixture.createAgentKey('leaver')
    const page = await enter({ path: '#/tools' })
    await page.locator('.card', { hasText: 'Pays money back' }).click()
    await page.getByText('refund:write').waitFor()
    await page.getByText('"cents"').waitFor()
    await go(page, '#/tenants')
    const row = page.locator('tr', { hasText: 'leaver' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.getByText('revoked').waitFor()
  })

  test('the audit is searched and verified', async () => {
    await fixture.call(agent, 'price', { article: 'for the record' })
    const page = await enter({ path: '#/audit' })
    await page.locator('.audit tbody tr').first().waitFor()
    await page.getByLabel('Search the audit').fill('toolCrashed no such thing')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('No matching records').waitFor()
    await page.getByLabel('Search the audit').fill('price')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.locator('.audit tbody tr').first().getByRole('button').click()
    await page.locator('.fields').getByText('hash').waitFor()
    await page.getByRole('button', { name: 'Verify chain' }).click()
    await page.getByText(/records, intact/).waitFor()
  })
})

describe('every user', { timeout: 5 * slowTest }, () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

  test.each([
    ['in light colours', {}],
    ['in dark colours on a phone', { dark: true, phone: true }],
  ])('can use every page %s: axe finds nothing', async (_, opening) => {
    // A console with little data, because axe looks at every element.
    const quiet = await ownConsole()
    const caller = await quiet.createAgentKey()
    await quiet.call(caller, 'refund', { order: 'axe', hidden: '\u202e' })
    await quiet.call(caller, 'break', {})
    const page = await enter(opening, quiet)
    for (const [path, ready] of [
      ['#/approvals', '.ticket-list a'],
      [`#/approvals/${(await quiet.approvals.list()).tickets[0]?.id}`, '.decide'],
      ['#/live', '.requests'],
      ['#/tools', '.card'],
      ['#/tenants', '.table'],
      ['#/audit', '.audit'],
    ] as const) {
      await go(page, path)
      await page.locator(ready).first().waitFor()
      // Playwright injects it past the policy, as an extension would; the page itself could not load it.
      await page.evaluate(axe)
      const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string; nodes: unknown[] }[] }
      expect({
        path,
        violations: violations.map(({ id, nodes }) => [id, JSON.stringify(nodes[0]).slice(0, 300)]),
      }).toEqual({
        path,
        violations: [],
      })
    }
  })
})
