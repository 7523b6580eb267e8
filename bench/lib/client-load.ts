/** A client in a separate process: it makes calls for a while and reports how many, and the CPU time they took. */
import type { BenchClient, ClientModule, ServerAddress } from '../clients/client.ts'
import { echoText } from './messages.ts'

export type Order =
  | { readonly open: string; readonly address: ServerAddress }
  | { readonly concurrency: number; readonly durationMs: number }

export interface Calls {
  readonly perSecond: number
  readonly cpuUs: number
  /** CPU time of this process as share of a core. */
  readonly busy: number
}

let client: BenchClient | undefined

async function drive(concurrency: number, durationMs: number): Promise<Calls> {
  const opened = client
  if (!opened) throw new Error('not open')
  let calls = 0
  const before = process.cpuUsage()
  const startedAt = performance.now()
  async function loop(): Promise<void> {
    while (performance.now() - startedAt < durationMs) {
      if ((await opened?.call()) !== echoText) throw new Error('a wrong answer')
      calls++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
  const elapsedMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(before)
  return {
    perSecond: calls / (elapsedMs / 1000),
    cpuUs: (user + system) / calls,
    busy: (user + system) / 1000 / elapsedMs,
  }
}

async function obey(order: Order): Promise<unknown> {
  if ('open' in order) {
    const { open } = (await import(order.open)) as ClientModule
    client = await open(order.address)
    return { opened: true }
  }
  return drive(order.concurrency, order.durationMs)
}

process.on('message', (order: Order) => {
  obey(order).then(
    (reply) => process.send?.(reply),
    (thrown: unknown) => process.send?.({ failed: String(thrown) }),
  )
})
process.on('disconnect', () => {
  const closed = client?.close() ?? Promise.resolve()
  closed.finally(() => process.exit()).catch(() => process.exit(1))
})
