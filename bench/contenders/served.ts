/**
 * Reports to the runner where an HTTP contender listens and, on request, the CPU time and the memory it has used.
 *
 * The channel also ends the process, so that a runner that dies leaves no servers behind.
 */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `headers` are required in its requests. */
export function reportUrl(url: string, headers: Record<string, string> = {}): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1_000, megabytes: process.memoryUsage.rss() / 1e6 })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ url, headers })
}

export const listen = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => reportUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))
}
