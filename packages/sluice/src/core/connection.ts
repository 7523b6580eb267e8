/**
 * What outlives one message: a pipe, a socket or a legacy HTTP session, with the calls under way on it and the
 * questions it still owes an answer to.
 *
 * A transport opens it and closes it; closing aborts its calls, so nothing runs on for a client that is gone.
 */

import type { Clock } from './clock.ts'
import { RpcError } from './error.ts'
import type { Id, Params } from './json.ts'
import { isObject } from './json.ts'
import type { Stop } from './stop.ts'

export interface Connection {
  readonly id: string
  /** What `initialize` agreed on; `undefined` before it, and for clients of 2026-07-28. */
  agreed: Agreement | undefined
  /** Set by `logging/setLevel`. */
  logLevel: string
  /** Whose changes it may hear of: the tenant of the call that subscribed. */
  tenant: string | undefined
  /** Resource URIs a legacy client subscribed to. */
  readonly subscriptions: Set<string>
  /** Calls under way. Two with one id would get indistinguishable answers. */
  readonly inFlight: Map<Id, Stop>
  /** Sends what belongs to no call. */
  send(message: object): void
  /** Asks the client and waits for its response. `send` puts the question on the stream it belongs to. */
  request(method: string, params: Params, via: { send(message: object): void; readonly stop: Stop }): Promise<unknown>
  /** Hands in the client's response to a question; false if nobody asked. */
  settle(id: unknown, response: Params): boolean
  /** Ends it: aborts what is under way, refuses what is open. Once. */
  close(): void
  readonly closed: boolean
}

export interface Agreement {
  readonly revision: string
  readonly capabilities: Params
  readonly client: Params
}

export interface ConnectionOptions {
  readonly id: string
  readonly clock: Clock
  send(message: object): void
  /** How long a question may stay open. People are slow; a lost client must not hold its call for ever. */
  readonly answerWithinMs: number
  onClose?(): void
}

interface Open {
  settle(response: Params): void
  refuse(error: RpcError): void
}

export function createConnection({ id, clock, send, answerWithinMs, onClose }: ConnectionOptions): Connection {
  const questions = new Map<string, Open>()
  const inFlight = new Map<Id, Stop>()
  let asked = 0
  let closed = false
  return {
    id,
    agreed: undefined,
    logLevel: 'info',
    tenant: undefined,
    subscriptions: new Set(),
    inFlight,
    send,
    request(method, params, via) {
      if (closed || via.stop.reason) return Promise.reject(new RpcError('cancelled', 'Nobody is left to ask'))
      // Guessing another connection's question must not help: ids count per connection and are looked up there only.
      const question = `sluice-${++asked}`
      return new Promise((resolve, reject) => {
        const done = (): void => {
          questions.delete(question)
          callOff()
          forget()
        }
        const refuse = (error: RpcError): void => {
          done()
          reject(error)
        }
        const abandon = (): void => {
          via.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: question } })
          refuse(new RpcError('cancelled', 'The call that asked has ended'))
        }
        const callOff = clock.after(answerWithinMs, () => {
          via.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: question } })
          refuse(new RpcError('timeout', `The client did not answer ${method} in time`))
        })
        const forget = via.stop.onStop(abandon)
        questions.set(question, {
          refuse,
          settle(response) {
            done()
            const error = response['error']
            if (error === undefined) resolve(response['result'])
            else reject(new RpcError('toolFailed', `The client refused ${method}: ${textOf(error)}`))
          },
        })
        via.send({ jsonrpc: '2.0', id: question, method, params })
      })
    },
    settle(question, response) {
      const open = typeof question === 'string' ? questions.get(question) : undefined
      open?.settle(response)
      return open !== undefined
    },
    close() {
      if (closed) return
      closed = true
      const ended = new RpcError('cancelled', 'The connection has ended')
      for (const { refuse } of [...questions.values()]) refuse(ended)
      for (const call of [...inFlight.values()]) call.stop(ended)
      inFlight.clear()
      onClose?.()
    },
    get closed() {
      return closed
    },
  }
}

/** A client's own words, cut: they end up in a tool error that a model reads. */
const textOf = (error: unknown): string =>
  isObject(error) && typeof error['message'] === 'string' ? error['message'].slice(0, 200) : 'no reason given'
