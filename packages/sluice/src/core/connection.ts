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

/** A class, because there may be thousands, most of them idle: what few need is made when it is needed. */
class OpenConnection implements Connection {
  readonly id: string
  owner: string | undefined = undefined
  agreed: Agreement | undefined = undefined
  logLevel = 'info'
  tenant: string | undefined = undefined
  readonly inFlight: Map<Id, Stop> = new Map()
  closed = false
  readonly #options: ConnectionOptions
  #subscriptions: Set<string> | undefined = undefined
  #questions: Map<string, Open> | undefined = undefined
  #asked = 0

  constructor(options: ConnectionOptions) {
    this.id = options.id
    this.#options = options
  }
  get subscriptions(): Set<string> {
    this.#subscriptions ??= new Set()
    return this.#subscriptions
  }
  get reading(): Promise<unknown> | undefined {
    return this.#options.elsewhere?.reading
  }
  own(owner: string): boolean | Promise<boolean> {
    if (this.owner !== undefined) return this.owner === owner
    const { elsewhere } = this.#options
    if (elsewhere) return elsewhere.own(owner)
    this.owner = owner
    return true
  }
  cancel(call: Id): void {
    const running = this.inFlight.get(call)
    if (running) running.stop(new RpcError('cancelled', 'Cancelled by the client'))
    else this.#options.elsewhere?.cancel(call)
  }
  request(method: string, params: Params, via: { send(message: object): void; readonly stop: Stop }): Promise<unknown> {
    if (this.closed || via.stop.reason) return Promise.reject(new RpcError('cancelled', 'Nobody is left to ask'))
    const { clock, elsewhere, answerWithinMs } = this.#options
    this.#questions ??= new Map()
    const questions = this.#questions
    // Guessing another connection's question must not help: ids count per connection and are looked up there only.
    // Where others ask on the same connection, counting would give two questions one name.
    const question = `sluice-${elsewhere ? crypto.randomUUID() : ++this.#asked}`
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
      const abandon = (why: RpcError): void => {
        via.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: question } })
        refuse(why)
      }
      const callOff = clock.after(answerWithinMs, () =>
        abandon(new RpcError('timeout', `The client did not answer ${method} in time`)),
      )
      const forget = via.stop.onStop(() => abandon(new RpcError('cancelled', 'The call that asked has ended')))
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
  }
  settle(question: unknown, response: Params): boolean | Promise<boolean> {
    if (typeof question !== 'string') return false
    const open = this.#questions?.get(question)
    if (!open) return this.#options.elsewhere?.settle(question, response) ?? false
    open.settle(response)
    return true
  }
  close(): void {
    if (this.closed) return
    this.closed = true
    const ended = new RpcError('cancelled', 'The connection has ended')
    for (const { refuse } of [...(this.#questions?.values() ?? [])]) refuse(ended)
    for (const call of [...this.inFlight.values()]) call.stop(ended)
    this.inFlight.clear()
    this.#options.onClose?.()
  }
}

export const createConnection = (options: ConnectionOptions): Connection => new OpenConnection(options)

/** A client's own words, cut: they end up in a tool error that a model reads. */
const textOf = (error: unknown): string =>
  isObject(error) && typeof error['message'] === 'string' ? error['message'].slice(0, 200) : 'no reason given'
