/**
 * P10: a process dies at any point of a ticket's life, and another one takes over. There are never two effects, and
 * nothing that the first process acknowledged is lost.
 */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { PaymentServer, StoreKind } from '../kit/servers/payments.fixture.ts'
import { cashier, effectsIn, endLeases, openPaymentServer, openStore } from '../kit/servers/payments.fixture.ts'

const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const source = fileURLToPath(new URL('../kit/processes/ticket-life.fixture.ts', import.meta.url))
/** More than there are cores, because a process that waits for its disk leaves one free. */
const atATime = 3

/** What the process had acknowledged before it died. */
interface Acknowledged {
  readonly created?: string
  readonly decided?: string
  readonly answered?: string
  readonly points?: readonly string[]
}
export interface TicketLife {
  readonly amount: number
  readonly point: string
  readonly acknowledged: Acknowledged
  readonly killed: boolean
}

/**
 * Bundles the program into one file: finding, stripping and compiling its many modules takes longer than the life
 * itself.
 */
export async function bundleProgram(folder: string): Promise<string> {
  const outfile = join(folder, 'live.mjs')
  const js = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`
  await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'esm', banner: { js } })
  return outfile
}

const runLife = (
  program: string,
  store: StoreKind,
  folder: string,
  amount: number,
  point: string,
): Promise<TicketLife> =>
  new Promise((resolve, reject) => {
    const child = spawn(node, [program, store, folder, String(amount), point], {
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
      resolve({ amount, point, acknowledged: told, killed: signal === 'SIGKILL' })
    })
  })

/** Finds every point of a life by running it once. */
export async function pointsOf(program: string, store: StoreKind, folder: string): Promise<readonly string[]> {
  const { acknowledged } = await runLife(program, store, folder, 1e9, '-')
  return acknowledged.points ?? []
}

/** Runs a life that ends at each of these points, a few at a time. The n-th pays n. */
export async function killAtEach(
  points: readonly string[],
  program: string,
  store: StoreKind,
  folder: string,
): Promise<readonly TicketLife[]> {
  const lives: TicketLife[] = []
  const waiting = points.entries()
  async function next(): Promise<void> {
    for (const [amount, point] of waiting) lives.push(await runLife(program, store, folder, amount, point))
  }
  await Promise.all(Array.from({ length: atATime }, next))
  return lives
}

/** Takes over after each of these. Returns the losses as sentences, and how the lives ended. */
export async function takeOver(
  store: StoreKind,
  folder: string,
  lives: readonly TicketLife[],
): Promise<{ readonly lost: readonly string[]; readonly ends: { readonly [end: string]: number } }> {
  const shelf = openStore(store, folder)
  await endLeases(shelf)
  // Long before any ticket expires.
  const clock = { now: () => Date.now() + 60_000, after: () => () => {} }
  const till = openPaymentServer(shelf, { folder, clock })
  const lost: string[] = []
  const ends: { [end: string]: number } = {}
  for (const life of lives) {
    const { problems, end } = await problemsAfter(life, till, folder)
    lost.push(...problems.map((problem) => `killed at "${life.point}": ${problem}`))
    ends[end] = (ends[end] ?? 0) + 1
  }
  await till.server.close()
  await shelf.close?.()
  return { lost, ends }
}

async function problemsAfter(
  { amount, acknowledged, killed }: TicketLife,
  { pay, approvals }: PaymentServer,
  folder: string,
): Promise<{ readonly problems: readonly string[]; readonly end: string }> {
  const problems: string[] = killed ? [] : ['it did not die']
  const effects = (): number => effectsIn(folder).get(amount) ?? 0
  const before = effects()
  const id = acknowledged.created ?? acknowledged.decided
  if (acknowledged.decided !== undefined) {
    const ticket = await approvals.get(acknowledged.decided)
    if (!ticket?.decisions.some(({ approved }) => approved)) problems.push(`the decision is lost: ${ticket?.status}`)
    if (ticket && ['pending', 'expired', 'denied'].includes(ticket.status))
      problems.push(`the ticket is ${ticket.status}`)
  }
  if (acknowledged.answered !== undefined) {
    const again = await pay(amount, id)
    if (again.text !== acknowledged.answered) problems.push(`the answer is lost: ${JSON.stringify(again)}`)
    if (effects() !== 1) problems.push(`it was answered, and paid ${effects()} times`)
    return { problems, end: 'answered' }
  }
  // The client continues in either form: by the ticket's id if it has one.
  let answer = await pay(amount, id)
  if (answer.required !== undefined) {
    if (before > 0) problems.push('it was paid, and a new approval is asked for')
    await approvals.decide(answer.required, { approved: true }, cashier)
    answer = await pay(amount, answer.required)
  }
  if (answer.text === undefined) {
    if (answer.reason !== 'conflict' || answer.state !== 'in doubt')
      problems.push(`the end is ${JSON.stringify(answer)}`)
    const ids = (await approvals.list({ status: 'in doubt', limit: 200 })).tickets.filter(
      (ticket) => ticket.arguments === `{"amount":${amount}}`,
    )
    if (ids.length !== 1) problems.push('it is in doubt, and approvals do not show it')
    const again = [await pay(amount, id), await pay(amount)]
    if (again.some(({ state }) => state !== 'in doubt')) problems.push(`repeated it is ${JSON.stringify(again)}`)
  } else if (effects() !== 1) problems.push(`it was answered, and paid ${effects()} times`)
  if (effects() > 1) problems.push(`it was paid ${effects()} times`)
  return { problems, end: answer.text === undefined ? 'in doubt' : 'paid' }
}
