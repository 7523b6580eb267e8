/** A process dies somewhere in a task's life: never two effects, and nothing lost that it had acknowledged. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { StoreKind } from '../kit/servers/payments.fixture.ts'
import { cashier, effectsIn, endLeases, openStore } from '../kit/servers/payments.fixture.ts'
import type { TaskPayments } from '../kit/servers/task-payments.fixture.ts'
import { openTaskPayments, parkedCallOf } from '../kit/servers/task-payments.fixture.ts'

const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const source = fileURLToPath(new URL('../kit/processes/task-life.fixture.ts', import.meta.url))

/** Tasks that ask or need an approval, and calls that are parked while they ask. */
export const lifeKinds = ['asking', 'gated', 'parked', 'parked under a key', 'parked after an approval'] as const
export type LifeKind = (typeof lifeKinds)[number]

/** What the process had been told before it died. */
interface Acknowledged {
  readonly created?: string
  readonly updated?: boolean
  readonly decided?: string
  readonly answered?: string
  readonly points?: readonly string[]
}
export interface TaskLife {
  readonly kind: LifeKind
  readonly amount: number
  readonly point: string
  readonly acknowledged: Acknowledged
  readonly killed: boolean
}
/** Where lives are lived. */
export interface LifePlace {
  readonly program: string
  readonly store: StoreKind
  readonly folder: string
}

/** The program as one plain file, which starts faster. */
export async function bundleTaskLife(folder: string): Promise<string> {
  const outfile = join(folder, 'task-life.mjs')
  const js = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`
  await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'esm', banner: { js } })
  return outfile
}

const runLife = (
  { program, store, folder }: LifePlace,
  kind: LifeKind,
  amount: number,
  point: string,
): Promise<TaskLife> =>
  new Promise((resolve, reject) => {
    const child = spawn(node, [program, store, folder, String(amount), point, kind], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: `${program}.cache` },
    })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.on('error', reject)
    child.on('close', (_, signal) => {
      const lines = said.split('\n').filter((line) => line !== '')
      const told = Object.assign({}, ...lines.map((line) => JSON.parse(line) as Acknowledged)) as Acknowledged
      resolve({ kind, amount, point, acknowledged: told, killed: signal === 'SIGKILL' })
    })
  })

/** Every point of a life, found by living it once. */
export async function taskPointsOf(place: LifePlace, kind: LifeKind): Promise<readonly string[]> {
  const { acknowledged } = await runLife(place, kind, 1e9, '-')
  return acknowledged.points ?? []
}

/** A life that ends at each of these, a few at a time. The n-th pays `from` + 10 n. */
export async function killTasksAt(
  place: LifePlace,
  kind: LifeKind,
  points: readonly string[],
  from: number,
): Promise<readonly TaskLife[]> {
  const lives: TaskLife[] = []
  const waiting = points.entries()
  async function next(): Promise<void> {
    for (const [n, point] of waiting) lives.push(await killedLife(from + 10 * n, point))
  }
  /** On a busy machine a store may refuse a call, and then the point is not reached. */
  async function killedLife(amount: number, point: string, tries = 5): Promise<TaskLife> {
    const life = await runLife(place, kind, amount, point)
    return life.killed || tries === 1 ? life : killedLife(amount + 1, point, tries - 1)
  }
  await Promise.all(Array.from({ length: 3 }, next))
  return lives
}

/** Another process takes over: what was lost, in sentences, and how the lives ended. */
export async function takeOverTasks(
  { store: kind, folder }: LifePlace,
  lives: readonly TaskLife[],
): Promise<{ readonly lost: readonly string[]; readonly ends: { readonly [end: string]: number } }> {
  const store = openStore(kind, folder)
  await endLeases(store)
  const payments = openTaskPayments(store, { folder })
  const lost: string[] = []
  const ends: { [end: string]: number } = {}
  for (const life of lives) {
    const check = life.kind.startsWith('parked') ? problemsOfParked : problemsAfter
    const { problems, end } = await check(life, payments, folder)
    lost.push(...problems.map((problem) => `${life.kind}, killed at "${life.point}": ${problem}`))
    ends[end] = (ends[end] ?? 0) + 1
  }
  await payments.server.close()
  await store.close?.()
  return { lost, ends }
}

/** Another process gets the answers again, and under a key also the whole call. */
async function problemsOfParked(
  { kind, amount, acknowledged, killed, point }: TaskLife,
  { send }: TaskPayments,
  folder: string,
): Promise<{ readonly problems: readonly string[]; readonly end: string }> {
  const effects = (): number => effectsIn(folder).get(amount) ?? 0
  const problems: string[] = killed ? [] : [`it did not die at ${point}`]
  const { created: requestState, answered } = acknowledged
  if (requestState === undefined) {
    if (effects() > 0) problems.push('it had an effect before it was acknowledged')
    return { problems, end: 'not acknowledged' }
  }
  const { call, options } = parkedCallOf(kind, amount)
  const inputResponses = { 'sure.1': { action: 'accept', content: { yes: true } } }
  const { content, data } = await send('tools/call', { ...call, inputResponses, requestState }, options)
  const isInDoubt = JSON.stringify(data)?.includes('in doubt') ?? false
  if (content === undefined && !isInDoubt) problems.push(`the call is lost: ${JSON.stringify(data)}`)
  if (answered !== undefined && JSON.stringify(content) !== answered) problems.push('the answer is lost')
  if (content !== undefined && effects() !== 1) problems.push(`it is done, and was paid ${effects()} times`)
  await send('tools/call', { ...call, inputResponses, requestState }, options)
  // Without the key it would be another call.
  if (kind !== 'parked') await send('tools/call', call, options)
  if (effects() > 1) problems.push(`it was paid ${effects()} times`)
  return { problems, end: content === undefined ? 'in doubt' : 'completed' }
}

async function problemsAfter(
  { kind, amount, acknowledged, killed, point }: TaskLife,
  { approvals, reach, send }: TaskPayments,
  folder: string,
): Promise<{ readonly problems: readonly string[]; readonly end: string }> {
  const effects = (): number => effectsIn(folder).get(amount) ?? 0
  const problems: string[] = killed ? [] : [`it did not die at ${point}`]
  const { created: taskId, answered } = acknowledged
  if (taskId === undefined) {
    if (effects() > 0) problems.push('it had an effect before it was acknowledged')
    return { problems, end: 'not acknowledged' }
  }
  if (kind === 'gated') {
    const ticket = (await approvals.list({ limit: 200, status: 'pending' })).tickets.find(({ task }) => task === taskId)
    if (ticket && acknowledged.decided !== undefined) problems.push('the decision is lost')
    if (ticket) await approvals.decide(ticket.id, { approved: true }, cashier)
  }
  const task = await reach(taskId, 'completed')
  const [status, result] = [task['status'], JSON.stringify(task['result'])]
  if (status === undefined) problems.push(`the task is lost: ${JSON.stringify(task)}`)
  if (answered !== undefined && result !== answered) problems.push(`the answer is lost: ${JSON.stringify(task)}`)
  if (status === 'completed' && effects() !== 1) problems.push(`it is completed, and was paid ${effects()} times`)
  if (status === 'failed' && !JSON.stringify(task['error']).includes('in doubt'))
    problems.push(`it failed: ${JSON.stringify(task['error'])}`)
  // Whatever is tried afterwards, it ends for good.
  await send('tasks/update', { taskId, inputResponses: { 'sure.1': { action: 'accept', content: { yes: true } } } })
  await send('tasks/cancel', { taskId })
  const again = await reach(taskId, 'completed')
  if (JSON.stringify({ ...again, _meta: 0 }) !== JSON.stringify({ ...task, _meta: 0 }))
    problems.push(`it changed after its end: ${JSON.stringify(again)}`)
  if (effects() > 1) problems.push(`it was paid ${effects()} times`)
  return { problems, end: status === 'completed' ? 'completed' : 'in doubt' }
}
