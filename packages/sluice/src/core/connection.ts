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
  /** Whose it is, once somebody authenticated on it. */
  owner: string | undefined
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
  /** False if it belongs to somebody else. The first to ask owns it from then on. */
  own(owner: string): boolean | Promise<boolean>
  /** Ends a call of it early, on whatever process it runs. */
  cancel(id: Id): void
  /** Asks the client and waits for its response. `send` puts the question on the stream it belongs to. */
  request(method: string, params: Params, via: { send(message: object): void; readonly stop: Stop }): Promise<unknown>
  /** Hands in the client's response to a question; false if nobody asked. */
  settle(id: unknown, response: Params): boolean | Promise<boolean>
  /** What was changed on another process is being read: wait for it before judging what this one may hear. */
  readonly reading: Promise<unknown> | undefined
  /** Ends it: aborts what is under way, refuses what is open. Once. */
  close(): void
  readonly closed: boolean
}

export interface Agreement {
  readonly revision: string
  readonly capabilities: Params
  readonly client: Params
}

/** The same connection on other processes: a session's messages may each come in by another one. */
export interface Elsewhere {
  /** True for the owner, if nobody else was first. */
  own(owner: string): Promise<boolean>
  /** Before the client can see the question: its response may come in anywhere. */
  asked(question: string): Promise<void>
  /** It is answered, or nobody waits for it any more. */
  forget(question: string): void
  /** Hands a response to the process that asked; false if none did. */
  settle(question: string, response: Params): Promise<boolean>
  cancel(id: Id): void
  readonly reading: Promise<unknown> | undefined
}

export interface ConnectionOptions {
  readonly id: string
  readonly clock: Clock
  readonly elsewhere?: Elsewhere | undefined
  /** How long a question may stay open. People are slow; a lost client must not hold its call for ever. */
  readonly answerWithinMs: number
  onClose?(): void
}

interface Open {
  settle(response: Params): void
  refuse(error: RpcError): void
}

export function createConnection({ id, clock, elsewhere, answerWithinMs, onClose }: ConnectionOptions): Connection {
  const questions = new Map<string, Open>()
  const inFlight = new Map<Id, Stop>()
  // Where others ask on the same connection, counting would give two questions one name.
  const prefix = elsewhere ? `sluice-${crypto.randomUUID().slice(0, 8)}-` : 'sluice-'
  let asked = 0
  let closed = false
  return {
    id,
    agreed: undefined,
    logLevel: 'info',
    tenant: undefined,
    subscriptions: new Set(),
    owner: undefined,
    inFlight,
    own(owner) {
      if (this.owner !== undefined) return this.owner === owner
      if (elsewhere) return elsewhere.own(owner)
      this.owner = owner
      return true
    },
    cancel(call) {
      const running = inFlight.get(call)
      if (running) running.stop(new RpcError('cancelled', 'Cancelled by the client'))
      else elsewhere?.cancel(call)
    },
    request(method, params, via) {
      if (closed || via.stop.reason) return Promise.reject(new RpcError('cancelled', 'Nobody is left to ask'))
      // Guessing another connection's question must not help: ids count per connection and are looked up there only.
      const question = `${prefix}${++asked}`
      return new Promise((resolve, reject) => {
        const done = (): void => {
          questions.delete(question)
          elsewhere?.forget(question)
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
        const say = (): void => {
          if (questions.has(question)) via.send({ jsonrpc: '2.0', id: question, method, params })
        }
        if (elsewhere) elsewhere.asked(question).then(say, refuse)
        else say()
      })
    },
    settle(question, response) {
      if (typeof question !== 'string') return false
      const open = questions.get(question)
      if (!open) return elsewhere?.settle(question, response) ?? false
      open.settle(response)
      return true
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
    get reading() {
      return elsewhere?.reading
    },
    get closed() {
      return closed
    },
  }
}

/** A client's own words, cut: they end up in a tool error that a model reads. */
const textOf = (error: unknown): string =>
  isObject(error) && typeof error['message'] === 'string' ? error['message'].slice(0, 200) : 'no reason given'
