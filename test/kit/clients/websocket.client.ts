/** A client over WebSocket, on its own port. */

import type { Server } from 'sluice'
import { serveHttp } from 'sluice/node'
import { websocket } from 'sluice/websocket'
import { WebSocket } from 'ws'
import type { MessageChannel } from './channel.client.ts'
import { openOverChannel } from './channel.client.ts'
import { Inbox } from './inbox.ts'
import type { ProtocolClient, ProtocolClientOptions } from './protocol.ts'

/** Tests advance clocks by hours at a time, and no ping would come back in between. */
const longer = { pingMs: 24 * 3_600_000, idleMs: 24 * 3_600_000 }

export async function openSocket(server: Server): Promise<MessageChannel> {
  const serving = await serveHttp(server, { port: 0, websocket: websocket(longer) })
  const ws = new WebSocket(serving.url.replace('http', 'ws').replace(/mcp$/, 'ws'), 'mcp')
  const lines = new Inbox<unknown>()
  ws.on('message', (data: Buffer) => lines.push(JSON.parse(data.toString())))
  await new Promise<void>((resolve, reject) => {
    ws.on('open', resolve)
    ws.on('error', reject)
  })
  return {
    write: (message: unknown) => ws.send(JSON.stringify(message)),
    received: lines,
    async close() {
      ws.close()
      await serving.close()
    },
  }
}

export const openWebSocket = async (server: Server, options: ProtocolClientOptions): Promise<ProtocolClient> =>
  openOverChannel(await openSocket(server), server, options)
