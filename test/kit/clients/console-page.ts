/** A page of the console in a browser, signed in by a link. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { ConsoleFixture } from '../servers/console.fixture.ts'

export interface ConsolePageOptions {
  readonly path?: string
  readonly phone?: boolean
  readonly dark?: boolean
}

const timeoutMs = 60_000

export async function aConsoleContext(browser: Browser, options: ConsolePageOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    colorScheme: options.dark ? 'dark' : 'light',
    viewport: options.phone ? { width: 390, height: 844 } : { width: 1200, height: 800 },
    // A contrast that is measured during a transition is that of neither state.
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(timeoutMs)
  return context
}

/** Signs in by a link and opens a page. */
export async function openConsolePage(
  browser: Browser,
  fixture: ConsoleFixture,
  options: ConsolePageOptions = {},
): Promise<Page> {
  const context = await aConsoleContext(browser, options)
  const page = await context.newPage()
  // Each test signs in anew, more often than the limit allows.
  fixture.clock.advance(30_000)
  await page.goto(await fixture.consoleApp.link())
  await page.getByRole('navigation').waitFor()
  await goTo(page, options.path ?? '#/approvals')
  return page
}

export const goTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(path)}`)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns what axe-core finds on the page as it is now. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // Playwright injects it past the policy, as an extension would; the page itself could not load it.
  await page.evaluate(axe)
  const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string; nodes: unknown[] }[] }
  return violations.map(({ id, nodes }) => `${id}: ${JSON.stringify(nodes[0]).slice(0, 300)}`)
}
