/** A client over HTTP+SSE, on its own port: every message is a POST, every answer an event. */

import type { Server } from 'sluice'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import type { MessageChannel } from './channel.client.ts'
import { openOverChannel } from './channel.client.ts'
import { modernHeaders, post } from './http-events.ts'
import { Inbox } from './inbox.ts'
import type { Params, ProtocolClient, ProtocolClientOptions } from './protocol.ts'
import { isObject, modern } from './protocol.ts'
import { openEventStream } from './streaming.client.ts'

export async function openStream(server: Server): Promise<MessageChannel> {
  const serving = await serveHttp(server, { port: 0, sse: sse() })
  const { origin } = new URL(serving.url)
  const stream = await openEventStream(`${origin}/sse`)
  const endpoint = origin + (await stream.endpoint)
  const lines = new Inbox<unknown>()
  let over = false
  async function read(): Promise<void> {
    while (!over) lines.push(await stream.next())
  }
  // The stream has closed, so pending calls fail by themselves.
  read().catch(() => {})
  /** Sends one after the other, because over HTTP they would overtake each other. */
  let sent: Promise<unknown> = Promise.resolve()
  return {
    write(message: unknown) {
      const headers = isModern(message) ? modernHeaders(message) : {}
      sent = sent.then(async () => (await post(endpoint, message, headers)).text())
    },
    received: lines,
    async close() {
      over = true
      await sent
      stream.close()
      const closed = serving.close()
      serving.server.closeAllConnections()
      await closed
    },
  }
}

/** Decided by the body, because the headers follow from it. */
const isModern = (message: unknown): message is Params =>
  isObject(message) &&
  'id' in message &&
  'method' in message &&
  JSON.stringify(message).includes(`protocolVersion":"${modern}`)

export const openSse = async (server: Server, options: ProtocolClientOptions): Promise<ProtocolClient> =>
  openOverChannel(await openStream(server), server, options)
