/** Clients of what carries messages both ways by itself: a pipe, a socket, a stream with its posts. */

import type { Server } from 'sluice'
import { toInitialize, toRequest, toResponse } from './envelope.ts'
import { Heard } from './heard.ts'
import type { Id, Params, Wire, WireOptions } from './messages.ts'
import { isObject, resultOf } from './messages.ts'

/** One on which nothing was said yet. */
export interface Channel {
  write(message: unknown): void
  /** Every message that came out, parsed. */
  readonly lines: Heard<unknown>
  close(): Promise<void>
}

export async function openChannel(pipe: Channel, server: Server, options: WireOptions): Promise<Wire> {
  const { lines, write } = pipe
  const heard = new Heard<Params>()
  const gone = new Heard<Id>()
  let ids = 0
  /** What this wire itself could not do, for whoever sends next. */
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  lines
    .later((line) => {
      if (isObject(line) && typeof line['method'] === 'string') take(line).catch(broken.reject)
      return false
    })
    .catch(broken.reject)
  async function take(message: Params): Promise<void> {
    heard.push(message)
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
    const answered = Promise.race([lines.later(isAnswer), gone.later((cancelled) => cancelled === id), broken.promise])
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
    greeting,
    heard,
    send,
    notify,
    async cancel(id) {
      await notify('notifications/cancelled', { requestId: id })
      gone.push(id)
      // Whoever goes on now can be sure that it was heard: messages arrive in order.
      await send(isModern ? 'server/discover' : 'ping')
    },
    async close() {
      await pipe.close()
      await server.close()
    },
  }
}
