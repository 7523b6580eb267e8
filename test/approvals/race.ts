/** P06: many processes spend the same approved tickets at once, and count the effects. */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { StoreKind } from '../kit/servers/payments.fixture.ts'
import { cashier, effectsIn, openPaymentServer, openStore } from '../kit/servers/payments.fixture.ts'

const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const program = fileURLToPath(new URL('../kit/processes/ticket-spender.fixture.ts', import.meta.url))

export interface Race {
  readonly store: StoreKind
  readonly folder: string
  readonly tickets: number
  readonly retries: number
  readonly processes: number
}
export interface RaceReport {
  readonly calls: number
  readonly executions: number
  /** Violations as sentences; empty if there are none. */
  readonly lost: readonly string[]
  readonly counts: { readonly [answer: string]: number }
}
interface SpenderOutput {
  readonly counts: { readonly [answer: string]: number }
  readonly texts: readonly (readonly [amount: number, said: readonly string[]])[]
}

export async function race({ store: kind, folder, tickets, retries, processes }: Race): Promise<RaceReport> {
  const store = openStore(kind, folder)
  const { pay, approvals, server } = openPaymentServer(store, { folder })
  const ids = await Promise.all(
    Array.from({ length: tickets }, async (_, amount) => (await pay(amount)).required ?? ''),
  )
  await Promise.all(ids.map((id) => approvals.decide(id, { approved: true }, cashier)))
  const said = await Promise.all(
    (await Promise.all(Array.from({ length: processes }, () => start([kind, folder, String(retries), ...ids])))).map(
      (go) => go(),
    ),
  )
  const counts: { [answer: string]: number } = {}
  for (const each of said)
    for (const [what, count] of Object.entries(each.counts)) counts[what] = (counts[what] ?? 0) + count
  const textsOf = ids.map(
    (_, amount) => new Set(said.flatMap((each) => each.texts.flatMap(([n, all]) => (n === amount ? all : [])))),
  )
  // A store that cannot keep up may refuse all calls of a ticket. Their client then calls again.
  if (counts['storeUnavailable'])
    for (const [amount, texts] of textsOf.entries()) {
      const { text } = texts.size === 0 ? await pay(amount, ids[amount]) : {}
      if (text !== undefined) texts.add(text)
    }
  const effects = effectsIn(folder)
  const lost: string[] = []
  for (const [amount, id] of ids.entries()) {
    if (effects.get(amount) !== 1) lost.push(`${amount} was paid ${effects.get(amount) ?? 0} times`)
    const { size = 0 } = textsOf[amount] ?? {}
    if (size !== 1) lost.push(`${amount} was answered in ${size} ways`)
    const ticket = await approvals.get(id)
    if (ticket?.status !== 'done') lost.push(`the ticket of ${amount} is ${ticket?.status}`)
  }
  await server.close()
  await store.close?.()
  const calls = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (calls !== tickets * retries * processes) lost.push(`${calls} calls were answered`)
  const executions = [...effects.values()].reduce((sum, count) => sum + count, 0)
  return { calls, executions, lost, counts }
}

/** Resolves when the process is ready, with a function that starts it and resolves with its output. */
async function start(args: readonly string[]): Promise<() => Promise<SpenderOutput>> {
  const child: ChildProcess = spawn(node, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<never>((_, reject) => {
    child.on('close', (code) => reject(new Error(`A process ended with ${code} before any output`)))
  })
  ended.catch(() => {})
  if (!child.stdout) throw new Error('No output')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await Promise.race([lines.next(), ended])
  return async () => {
    child.stdin?.write('go\n')
    const { value } = await Promise.race([lines.next(), ended])
    return JSON.parse(String(value)) as SpenderOutput
  }
}

/** All in this process, in memory. */
export async function raceInMemory({
  folder,
  tickets,
  retries,
}: Pick<Race, 'folder' | 'tickets' | 'retries'>): Promise<RaceReport> {
  const { pay, approvals, server } = openPaymentServer(openStore('memory', folder), { folder })
  const ids = await Promise.all(
    Array.from({ length: tickets }, async (_, amount) => (await pay(amount)).required ?? ''),
  )
  await Promise.all(ids.map((id) => approvals.decide(id, { approved: true }, cashier)))
  const answers = await Promise.all(
    ids.flatMap((id, amount) => Array.from({ length: retries }, (_, n) => pay(amount, n % 2 === 0 ? id : undefined))),
  )
  const effects = effectsIn(folder)
  const lost = ids.flatMap((_, amount) =>
    effects.get(amount) === 1 ? [] : [`${amount} was paid ${effects.get(amount) ?? 0} times`],
  )
  const executions = [...effects.values()].reduce((sum, count) => sum + count, 0)
  await server.close()
  const counts = { result: answers.filter(({ text }) => text !== undefined).length }
  return { calls: answers.length, executions, lost, counts }
}
