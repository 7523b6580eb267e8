/** Clients of bidirectional channels: a pipe, a socket, or a stream with its POSTs. */

import type { Server } from 'sluice'
import { toInitialize, toRequest, toResponse } from './envelope.ts'
import { Inbox } from './inbox.ts'
import type { Id, Params, ProtocolClient, ProtocolClientOptions } from './protocol.ts'
import { isObject, resultOf } from './protocol.ts'

/** A new channel without any messages. */
export interface MessageChannel {
  write(message: unknown): void
  /** Every message that was received, parsed. */
  readonly received: Inbox<unknown>
  close(): Promise<void>
}

export async function openOverChannel(
  pipe: MessageChannel,
  server: Server,
  options: ProtocolClientOptions,
): Promise<ProtocolClient> {
  const { received, write } = pipe
  const notifications = new Inbox<Params>()
  const cancelled = new Inbox<Id>()
  let ids = 0
  /** Rejects with the failure of the channel itself, for the next sender. */
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  received
    .nextNew((line) => {
      if (isObject(line) && typeof line['method'] === 'string') take(line).catch(broken.reject)
      return false
    })
    .catch(broken.reject)
  async function take(message: Params): Promise<void> {
    notifications.push(message)
    const { id, method, params } = message
    if (id !== undefined && options.answer)
      write(toResponse(id, await options.answer(String(method), isObject(params) ? params : {})))
  }
  async function send(
    method: string,
    params: Params = {},
    { id = ++ids, meta }: { id?: Id; meta?: Params } = {},
  ): Promise<Params | null> {
    const isAnswer = (line: unknown): boolean => isObject(line) && line['id'] === id && line['method'] === undefined
    const answered = Promise.race([
      received.nextNew(isAnswer),
      cancelled.nextNew((cancelled) => cancelled === id),
      broken.promise,
    ])
    write(toRequest(options, method, params, { id, ...(meta && { meta }) }))
    const answer = await answered
    return isObject(answer) ? answer : null
  }
  const notify = async (method: string, params: Params = {}): Promise<void> => write({ jsonrpc: '2.0', method, params })
  const isModern = options.revision === '2026-07-28'
  const greeting = resultOf(isModern ? await send('server/discover') : await send('initialize', toInitialize(options)))
  if (!isModern) await notify('notifications/initialized')
  return {
    revision: options.revision,
    server,
    handshake: greeting,
    received: notifications,
    send,
    notify,
    async cancel(id) {
      await notify('notifications/cancelled', { requestId: id })
      cancelled.push(id)
      // After this answer the notification was processed, because messages arrive in order.
      await send(isModern ? 'server/discover' : 'ping')
    },
    async close() {
      await pipe.close()
      await server.close()
    },
  }
}
