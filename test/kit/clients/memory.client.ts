/** In memory, through the client that users test their own servers with. */

import type { Server } from 'sluice'
import { testClient } from 'sluice/testing'
import { Inbox } from './inbox.ts'
import type { Params, ProtocolClient, ProtocolClientOptions } from './protocol.ts'
import { resultOf } from './protocol.ts'

export async function openMemory(server: Server, options: ProtocolClientOptions): Promise<ProtocolClient> {
  const heard = new Inbox<Params>()
  let greeting: Params = {}
  const controllers = new Map<unknown, AbortController>()
  // Wraps the server, because the client keeps received messages to itself until it is asked.
  const overheard: Server = {
    ...server,
    attach: (connection, send) =>
      server.attach(connection, (message, position) => {
        heard.push({ ...message })
        send?.(message, position)
      }),
    async handle(message, context) {
      const { id, method } = message as Params
      const controller = new AbortController()
      if (!controllers.has(id)) controllers.set(id, controller)
      const response = await server.handle(message, {
        ...context,
        signal: controller.signal,
        send(sent) {
          heard.push({ ...sent })
          context?.send?.(sent)
        },
      })
      if (controllers.get(id) === controller) controllers.delete(id)
      if (method === 'initialize') greeting = resultOf({ ...response })
      return response
    },
  }
  const client = await testClient(overheard, options)
  let ids = 0
  const wire: ProtocolClient = {
    revision: options.revision,
    server,
    get handshake() {
      return greeting
    },
    received: heard,
    send: (method, params = {}, { id = ++ids, meta } = {}) =>
      client.send(method, meta ? { ...params, _meta: meta } : params, id),
    notify: (method, params) => client.notify(method, params),
    async cancel(id) {
      if (options.revision === '2026-07-28') controllers.get(id)?.abort()
      else await client.notify('notifications/cancelled', { requestId: id })
    },
    async close() {
      client.close()
      await server.close()
    },
  }
  if (options.revision === '2026-07-28') greeting = resultOf(await wire.send('server/discover'))
  return wire
}
