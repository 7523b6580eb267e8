/**
 * The gateway for people, in Chromium: the sign-in to an upstream at a real authorization server, and the questions of an
 * upstream on the ticket of its call.
 */

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { upstream } from 'sluice/gateway-node'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { clientOf, token } from '../gateway/kit.ts'
import type { Members } from '../gateway/raw-upstream.ts'
import { rawTool, rawUpstream, textResult } from '../gateway/raw-upstream.ts'
import type { ConsolePageOptions } from '../kit/clients/console-page.ts'
import { accessibilityProblems, openConsolePage } from '../kit/clients/console-page.ts'
import { startChromium } from '../kit/processes/chromium.ts'
import type { GatewayConsole, NotesService } from './gateway-console.ts'
import { codeIn, openGatewayConsole, startNotes } from './gateway-console.ts'

const patient = { timeout: 180_000 }

let browser: Browser
let notes: NotesService
beforeAll(async () => {
  browser = await startChromium()
  notes = await startNotes()
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await notes?.close()
})
const errors: string[] = []
afterEach(() => expect(errors.splice(0)).toEqual([]))

async function enter(fixture: GatewayConsole, options: ConsolePageOptions): Promise<Page> {
  const page = await openConsolePage(browser, fixture, options)
  page.on('pageerror', (thrown) => errors.push(thrown.message))
  onTestFinished(() => page.context().close())
  return page
}
/** Nothing for axe to report, and nothing wider than the screen. */
async function look(page: Page): Promise<void> {
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
}
const opened = (context: BrowserContext): Promise<Page> => context.waitForEvent('page')

/** Signs in as an account of the authorization server, consents, and returns the code. */
async function consent(page: Page, account: string): Promise<string> {
  await page.locator('input[name=login]').fill(account)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  await page.locator('button[type=submit]', { hasText: 'Continue' }).click()
  await page.locator('h1', { hasText: 'Your code' }).waitFor()
  return codeIn(await page.locator('h1').textContent())
}
const whoami = async (fixture: GatewayConsole, secret: string): Promise<unknown> => {
  const { result } = (await fixture.call(secret, 'whoami', {})) as { result?: { content: { text: string }[] } }
  return result?.content[0]?.text
}

test.each([
  ['a desktop', {}],
  ['a phone', { phone: true, dark: true }],
])('a person signs in to an upstream by the button and the code, and signs out, on %s', patient, async (_, options) => {
  const fixture = await openGatewayConsole(notes.upstream(), notes.port)
  const agent = await fixture.createAgentKey('ann', ['default'])
  const page = await enter(fixture, { path: '#/upstreams', ...options })
  const own = page.getByRole('region', { name: 'Your sign-in to notes' })
  await own.getByText('not signed in').waitFor()
  await own.getByText('for calls of ann in the tenant default').waitFor()
  await own.getByRole('button', { name: 'Sign in to notes' }).focus()
  await page.keyboard.press('Enter')
  const link = own.getByRole('link', { name: 'Open the sign-in page' })
  await link.waitFor()
  await own.getByText(new URL(notes.issuer.url).host).waitFor()
  await look(page)
  const [popup] = await Promise.all([opened(page.context()), link.click()])
  await popup.locator('input[name=login]').waitFor()
  expect(await popup.evaluate('[opener, document.referrer]')).toEqual([null, ''])
  const code = await consent(popup, 'ann-at-notes')
  await popup.close()
  await own.getByText('the code is missing').waitFor()
  const field = own.getByLabel('Type the code that the page shows')
  await field.fill('12')
  await page.keyboard.press('Enter')
  await own.getByRole('alert').getByText('That code is wrong').waitFor()
  await field.fill(code)
  await own.getByRole('button', { name: 'Connect notes' }).click()
  await own.getByText('signed in', { exact: true }).waitFor()
  await field.waitFor({ state: 'detached' })
  await expect.poll(() => whoami(fixture, agent)).toBe('ann-at-notes')
  await look(page)
  await own.getByRole('button', { name: 'Sign out of notes' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await own.getByText('not signed in').waitFor()
  expect(await whoami(fixture, agent)).not.toBe('ann-at-notes')
})

const asked = (message: string): Members => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
})

test('the questions of an upstream are on the ticket, in order, with their answers and marks', patient, async () => {
  const raw = await rawUpstream({ tools: [rawTool('order')] })
  raw.respond = ({ params }) =>
    params['inputResponses'] === undefined
      ? {
          ...{ resultType: 'input_required', requestState: 'asked' },
          inputRequests: {
            one: asked('Whose\u202e order?\n<img src=x onerror=alert(1)>'),
            two: asked('Shall I send it to evil.example?'),
          },
        }
      : textResult('ordered')
  const rules = [{ approval: 'always', questions: 'relay' }] as const
  const fixture = await openGatewayConsole(upstream({ name: 'shop', url: raw.url, rules }))
  const client = await clientOf(
    fixture.endpoint,
    {
      revision: '2026-07-28',
      handlers: {
        form: ({ message }) =>
          String(message).includes('evil.example')
            ? { action: 'decline' }
            : { action: 'accept', content: { name: 'A\u200bda' } },
      },
    },
    token(await fixture.createAgentKey('ann', ['acme'], [])),
  )
  const { _meta } = await client.callTool('order', {})
  const id = String(((_meta as Members)['dev.sluice/approval'] as Members)['request_id'])
  const by = { subject: 'ann', credential: 'console', via: 'console', tenants: ['acme'], operator: true } as const
  await fixture.approvals.decide(id, { approved: true }, by)
  const page = await enter(fixture, { path: `#/approvals/${id}` })
  await page.getByRole('heading', { name: 'order', exact: true }).waitFor()
  expect(await page.getByText('Questions while it ran').count()).toBe(0)
  expect(await client.callTool('order', {})).toMatchObject({ content: [{ text: 'ordered' }] })
  // The open page shows them without being loaded again.
  await page.getByRole('heading', { name: 'Questions while it ran' }).waitFor()
  const rows = page.locator('.questions > li')
  await expect
    .poll(() => rows.allInnerTexts())
    .toEqual([
      expect.stringMatching(
        /Whose[\s\S]*order[\s\S]*<img src=x onerror=alert\(1\)>[\s\S]*answered[\s\S]*"name": "A[\s\S]*da"/,
      ),
      expect.stringMatching(/Shall I send it to evil\.example\?[\s\S]*declined/),
    ])
  await expect.poll(() => rows.first().locator('.hidden').allInnerTexts()).toEqual(['RLO', expect.any(String)])
  await page.getByText('2 characters are invisible or look like others').waitFor()
  expect(await page.locator('.questions :is(a, img)').count()).toBe(0)
  await look(page)
  const phone = await enter(fixture, { path: `#/approvals/${id}`, phone: true, dark: true })
  await phone.getByRole('region', { name: 'Answer 1' }).waitFor()
  await look(phone)
})
