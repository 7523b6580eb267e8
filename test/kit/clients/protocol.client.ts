/**
 * Our own clients, which send exactly what a test says and show every answer: in memory, over stdio, HTTP, HTTP+SSE and
 * WebSocket, in any revision.
 */

import type { Server } from 'sluice'
import { createEverything } from '../servers/everything.fixture.ts'
import { openHttp } from './http.client.ts'
import { openMemory } from './memory.client.ts'
import type { ProtocolClient, ProtocolClientOptions, Revision, Transport } from './protocol.ts'
import { allCapabilities } from './protocol.ts'
import { openSse } from './sse.client.ts'
import { openStdio } from './stdio.client.ts'
import { openWebSocket } from './websocket.client.ts'

export * from './protocol.ts'

const openers = { memory: openMemory, stdio: openStdio, http: openHttp, sse: openSse, websocket: openWebSocket }

export async function openProtocolClient(
  transport: Transport,
  revision: Revision,
  {
    server = createEverything(),
    capabilities = allCapabilities,
    ...options
  }: Partial<ProtocolClientOptions> & { server?: Server } = {},
): Promise<ProtocolClient> {
  return openers[transport](server, { ...options, revision, capabilities })
}
