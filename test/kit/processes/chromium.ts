/** Debian's Chromium, driven by Playwright: one per test file with a fresh profile; each test has its own contexts. */

import { execFileSync } from 'node:child_process'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'
import { requireProgram } from './programs.ts'

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  // Containers have little shared memory, and pages crash without this.
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Returns the path of Debian's Chromium. */
export const chromiumPath = (): string =>
  execFileSync('sh', ['-c', `command -v ${requireProgram('chromium')}`], { encoding: 'utf8' }).trim()

/** The caller closes it. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), headless: true, args: quiet, timeout: 120_000 })
}
