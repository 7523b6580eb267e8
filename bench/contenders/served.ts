/**
 * Reports to the runner where an HTTP contender listens and, on request, the CPU time and the memory it has used, and its
 * longest turn.
 *
 * The channel also ends the process, so that a runner that dies leaves no servers behind.
 */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The shortest turn that is noticed. A section that asks for turns sets `BENCH_TURNS`. */
const resolution = 5

/** Returns a function that tells the longest turn of the event loop since it was last called. */
function watchTurns(): () => number {
  if (process.env['BENCH_TURNS'] === undefined) return () => 0
  const turns = monitorEventLoopDelay({ resolution })
  turns.enable()
  return () => {
    const longest = turns.max / 1e6 - resolution
    turns.reset()
    return Math.max(0, longest)
  }
}

/** `headers` are required in its requests. */
export function reportUrl(url: string, headers: Record<string, string> = {}): void {
  const longestTurn = watchTurns()
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({
      cpuMs: (user + system) / 1_000,
      megabytes: process.memoryUsage.rss() / 1e6,
      longestTurnMs: longestTurn(),
    })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ url, headers })
}

export const listen = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => reportUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))
}
