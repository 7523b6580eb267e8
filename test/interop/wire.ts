/**
 * Our own clients, which say exactly what a test tells them to and show everything that comes back: in memory, over a
 * pipe, over HTTP, HTTP+SSE and a WebSocket, in any revision.
 */

import type { Server } from 'sluice'
import { createEverything } from './everything.ts'
import type { Revision, Transport, Wire, WireOptions } from './messages.ts'
import { allCapabilities } from './messages.ts'
import { openHttp } from './wire-http.ts'
import { openMemory } from './wire-memory.ts'
import { openSse } from './wire-sse.ts'
import { openStdio } from './wire-stdio.ts'
import { openWebSocket } from './wire-websocket.ts'

export * from './messages.ts'

const openers = { memory: openMemory, stdio: openStdio, http: openHttp, sse: openSse, websocket: openWebSocket }

export async function openWire(
  transport: Transport,
  revision: Revision,
  {
    server = createEverything(),
    capabilities = allCapabilities,
    ...options
  }: Partial<WireOptions> & { server?: Server } = {},
): Promise<Wire> {
  return openers[transport](server, { ...options, revision, capabilities })
}
