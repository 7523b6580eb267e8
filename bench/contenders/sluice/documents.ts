/** Wall time of single calls in a fresh process, including the first one, as the documents' own tests measure it. */
import { performance } from 'node:perf_hooks'
import { toTransportServer } from 'sluice/extend'
import { createServer } from 'sluice/node'
import { callMessage, listMessage } from '../../lib/messages.ts'
import { define } from './server.ts'

const repeats = 2_000

export interface Timing {
  readonly firstMs: number
  readonly medianMs: number
  readonly slowestMs: number
}

async function time(call: () => unknown): Promise<Timing> {
  const taken: number[] = []
  for (let i = 0; i < repeats; i++) {
    const startedAt = performance.now()
    await call()
    taken.push(performance.now() - startedAt)
  }
  const firstMs = taken[0] ?? Number.NaN
  const sorted = taken.sort((a, b) => a - b)
  return { firstMs, medianMs: sorted[repeats / 2] ?? Number.NaN, slowestMs: sorted.at(-1) ?? Number.NaN }
}

const server = createServer(define(200))
const [list, call] = [listMessage('2026-07-28'), callMessage('2026-07-28')]
process.send?.({
  list: await time(() => server.handle(JSON.parse(list))),
  call: await time(() => toTransportServer(server).handleText(JSON.parse(call))),
})
process.disconnect?.()
