/** A server in this process as a transport: no bytes, no copies. For tests and for gateways in front of local servers. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { notOpen, receiveValue } from './channel.ts'
import { ClientError } from './errors.ts'
import type { Message } from './message.ts'
import type { Receiver, Transport } from './transport.ts'

/** The part of a server that the transport uses. A server of `createServer` has it. */
export interface InProcessServer {
  handle(message: unknown, context: { readonly signal: AbortSignal; send(message: unknown): void }): Promise<unknown>
}

/** Returns a transport to a server in this process. Questions of earlier revisions need `connect` of the server's side. */
export function inProcessTransport(server: InProcessServer, name = 'in-process'): Transport {
  let receiver: Receiver | undefined
  const running = new Map<unknown, AbortController>()
  async function run(message: Message, to: Receiver): Promise<void> {
    const controller = new AbortController()
    if (message.id !== undefined) running.set(message.id, controller)
    try {
      const answer = await server.handle(message, {
        signal: controller.signal,
        send: (sent) => {
          if (receiver === to) receiveValue(sent, to)
        },
      })
      if (receiver === to && isObject(answer)) receiveValue(answer, to)
    } catch (cause) {
      throw new ClientError('closed', 'The server in this process threw', { cause })
    } finally {
      running.delete(message.id)
    }
  }
  return {
    server: name,
    mirrorsHeaders: false,
    open(to) {
      receiver = to
      return Promise.resolve()
    },
    send(message) {
      if (!receiver) return Promise.reject(notOpen())
      if (message.method === 'notifications/cancelled') running.get((message.params as Params)['requestId'])?.abort()
      return run(message, receiver)
    },
    agreed() {},
    close() {
      receiver = undefined
      for (const controller of running.values()) controller.abort()
      return Promise.resolve()
    },
  }
}
