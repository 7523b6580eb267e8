/**
 * What an HTTP contender tells the runner: where it listens and, on request, the CPU time it has used.
 *
 * The channel also ends the process: a runner that dies leaves no servers behind.
 */

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `headers` is what its requests must bring besides. */
export function reportUrl(url: string, headers: Record<string, string> = {}): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1_000 })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ url, headers })
}

export const listen = (server: Server): void => {
  server.listen(0, '127.0.0.1', () => reportUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`))
}
