/**
 * The console with ten thousand waiting tickets and five hundred requests per second, in Chromium: whether the page
 * ever blocks. A task after loading that takes more than 50 ms of CPU time is a loss. Tasks that took so long by the
 * clock are printed beside; on a busy machine other work causes those.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { startChromium } from '../../kit/processes/chromium.ts'
import type { ConsoleFixture } from '../../kit/servers/console.fixture.ts'
import { openConsoleFixture } from '../../kit/servers/console.fixture.ts'
import type { Soak } from '../soak.ts'

const perCaller = 20
const perSecond = 500
const longest = 50
const heaviest = 80 * 1024

export const run: Soak = async ({ times, progress }) => {
  const consoleFixture = await openConsoleFixture()
  const tickets = times(10_000)
  const secrets = await propose(consoleFixture, tickets, progress)
  const browser = await startChromium()
  const load = startLoad(consoleFixture, secrets)
  const lost: string[] = []
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    page.setDefaultTimeout(120_000)
    await page.goto(await consoleFixture.consoleApp.link())
    await page.locator('.ticket-list a').first().waitFor()
    await watch(page)
    await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
    const decided = await approve(page, times(20))
    await live(page, times(30))
    await look(page)
    const tasks = tasksIn(await browser.stopTracing())
    const seen = Number(await page.evaluate('window.longTasks'))
    for (const { processor } of tasks.filter((task) => task.processor > longest))
      lost.push(`A task of ${Math.round(processor)} ms of processor time`)
    const most = (of: keyof Task): number => Math.round(Math.max(0, ...tasks.map((task) => task[of])))
    const passed = await load.stop()
    const bytes = weight()
    if (bytes > heaviest) lost.push(`The page weighs ${bytes} bytes compressed, more than ${heaviest}`)
    return {
      counted: {
        'tickets waiting': tickets,
        'decided in the page': decided,
        'requests passed': passed.calls,
        'per second': Math.round(passed.calls / passed.seconds),
        'tasks of the page': tasks.length,
        'ms of processor time in the longest': most('processor'),
        'long tasks (over 50 ms) as the page sees them': seen,
        'ms by the clock in the longest': most('clock'),
        'bytes of page, compressed': bytes,
      },
      lost,
    }
  } finally {
    // Otherwise the load of a run that failed keeps the process alive.
    await load.stop()
    await browser.close()
    await consoleFixture.close()
  }
}

/** Real calls of a gated tool: each caller may have twenty waiting. */
async function propose(
  consoleFixture: ConsoleFixture,
  tickets: number,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const secrets: string[] = []
  for (let made = 0; made < tickets; made += perCaller) {
    const secret = await consoleFixture.createAgentKey(`caller-${secrets.length}`, [`tenant-${secrets.length % 40}`])
    secrets.push(secret)
    const orders = Array.from({ length: Math.min(perCaller, tickets - made) }, (_, at) => `order-${made + at}`)
    for (const order of orders) await consoleFixture.call(secret, 'refund', { order, cents: order.length * 100 })
    if (made % 2000 === 0) say(`console: ${made} tickets`)
  }
  return secrets
}

interface Load {
  stop(): Promise<{ readonly calls: number; readonly seconds: number }>
}

function startLoad(consoleFixture: ConsoleFixture, secrets: readonly string[]): Load {
  const begin = performance.now()
  let calls = 0
  let over = false
  const going = (async () => {
    while (!over) {
      const due = ((performance.now() - begin) / 1000) * perSecond
      while (calls < due && !over) {
        const secret = secrets[calls % secrets.length] ?? ''
        await consoleFixture.call(
          secret,
          calls % 25 === 0 ? 'break' : 'price',
          calls % 25 === 0 ? {} : { article: 'lamp' },
          'soak',
        )
        calls++
        if (calls % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      await sleep(5)
    }
  })()
  return {
    async stop() {
      over = true
      await going
      return { calls, seconds: (performance.now() - begin) / 1000 }
    },
  }
}

/** From here on no task may take long. */
const watch = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    window.longTasks = 0
    new PerformanceObserver((list) => { window.longTasks += list.getEntries().length }).observe({ type: 'longtask' })
  })()`)

interface Traced {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Microseconds by the clock, and of processor time. */
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/** Milliseconds. */
interface Task {
  readonly processor: number
  readonly clock: number
}

/** Each task on the page's main thread. */
function tasksIn(trace: Buffer): readonly Task[] {
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { traceEvents: readonly Traced[] }
  const main = new Set<string>()
  for (const { name, args, pid, tid } of traceEvents)
    if (name === 'thread_name' && args?.name === 'CrRendererMain') main.add(`${pid} ${tid}`)
  return traceEvents
    .filter(({ name, ph, pid, tid }) => name.endsWith('RunTask') && ph === 'X' && main.has(`${pid} ${tid}`))
    .map(({ tdur = 0, dur = 0 }) => ({ processor: tdur / 1000, clock: dur / 1000 }))
}

async function approve(page: Page, most: number): Promise<number> {
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.locator('.ticket-list a').nth(120).waitFor()
  for (let decided = 0; decided < most; decided++) {
    await page
      .locator('.ticket-list a')
      .nth(decided % 7)
      .click()
    const yes = page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled'))
    await yes.waitFor()
    await yes.click()
    await page.locator('.outcome', { hasText: 'Approved.' }).waitFor()
  }
  return most
}

async function live(page: Page, seconds: number): Promise<void> {
  await page.evaluate(`location.hash = '#/live'`)
  await page.locator('.requests tr').nth(30).waitFor()
  await page.waitForTimeout(seconds * 1000)
  await page.getByLabel('Outcome').selectOption('failed')
  await page.waitForTimeout(Math.ceil(seconds / 5) * 1000)
}

async function look(page: Page): Promise<void> {
  for (const [path, ready] of [
    ['#/tools', '.card'],
    ['#/tenants', '.table'],
    ['#/audit', '.audit'],
  ] as const) {
    await page.evaluate(`location.hash = ${JSON.stringify(path)}`)
    await page.locator(ready).first().waitFor()
    await page.waitForTimeout(1000)
  }
}

function weight(): number {
  const folder = join(import.meta.dirname, '../../../packages/console/lib/page')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce(
    (sum, { parentPath, name }) => sum + gzipSync(readFileSync(join(parentPath, name)), { level: 9 }).length,
    0,
  )
}
