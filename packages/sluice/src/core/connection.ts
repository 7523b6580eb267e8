/**
 * A connection outlives one message. It is a pipe, a socket or a legacy HTTP session, with its running calls and its
 * open questions.
 *
 * Invariants:
 * - `state` is replaced, never edited: by `change` here, or by the session that all processes share.
 * - A question is open from `request` until a response, a refusal, its deadline, the stop of its call or the end of the
 *   connection. After that it holds no timer, no listener and no entry in the store, and its promise has settled.
 *
 * A transport opens a connection and closes it. Closing stops its calls, so that nothing runs for a disconnected
 * client.
 */

import type { ServerEvent } from './call.ts'
import type { Clock } from './clock.ts'
import type { ConnectionState, StateChange } from './connection-state.ts'
import { applyChange, initialState } from './connection-state.ts'
import { invalidRequest, RpcError } from './error.ts'
import type { Id, Params } from './json.ts'
import { isObject } from './json.ts'
import { notificationOf } from './notification-of.ts'
import type { Stop } from './stop.ts'

export interface Connection {
  readonly id: string
  /** Replaced by `change`, or by the session that all processes share. */
  state: ConnectionState
  /** The calls that wait, by id. A call that is answered at once is never among them. */
  readonly inFlight: ReadonlyMap<Id, Stop>
  /** Throws if a call in flight has this id. Two with the same id would get indistinguishable answers. */
  assertUnused(id: Id): void
  /** Puts a call that waits among those that its client can cancel, and that end with the connection. */
  enter(id: Id, stop: Stop): void
  leave(id: Id): void
  /** Applies a change. Settles when no process can undo it; throws or rejects if it cannot be made. */
  change(change: StateChange): void | Promise<void>
  /** Returns false if it belongs to another caller. The first caller owns it from then on. */
  claimOwnership(owner: string): boolean | Promise<boolean>
  /** Stops one of its calls early, in whatever process it runs. */
  cancel(id: Id): void
  /** Asks the client and waits for its response. `send` puts the question on the stream it belongs to. */
  request(method: string, params: Params, via: { send(message: object): void; readonly stop: Stop }): Promise<unknown>
  /** Passes in the client's response to a question. Returns false if it matches no open question. */
  settle(id: unknown, response: Params): boolean | Promise<boolean>
  /**
   * Set while this process reads a change that another process made. Await it before deciding what this client is
   * notified of.
   */
  readonly pendingSync: Promise<unknown> | undefined
  /**
   * Delivers the notification of a change, if this client gets it: of every list, and of the resources that it
   * subscribed to.
   */
  notify(event: ServerEvent, deliver: (message: Params) => void): void
  /** Closes the connection: stops running calls and refuses open questions. Does nothing the second time. */
  close(): void
  readonly closed: boolean
}

/** The same connection in other processes, because each message of a session may reach another process. */
export interface RemoteConnection {
  /** Applies a change to what all processes share, and to this connection. */
  change(change: StateChange): void | Promise<void>
  /** Called before the client can see the question, because its response may reach any process. */
  registerQuestion(question: string): Promise<void>
  /** Called when the question is no longer open. */
  removeQuestion(question: string): void
  /** Passes a response to the process that asked. Returns false if none did. */
  settle(question: string, response: Params): Promise<boolean>
  cancel(id: Id): void
  readonly pendingSync: Promise<unknown> | undefined
}

export interface ConnectionOptions {
  readonly id: string
  readonly clock: Clock
  readonly remote?: RemoteConnection | undefined
  /** How long a question may stay open. People are slow; a lost client must not hold its call for ever. */
  readonly answerWithinMs: number
  onClose?(): void
}

interface PendingQuestion {
  settle(response: Params): void
  reject(error: RpcError): void
}

/**
 * A class, because a process may have thousands of connections, most of them idle. Rarely used members are made on
 * first use.
 */
class OpenConnection implements Connection {
  readonly id: string
  state: ConnectionState = initialState
  readonly inFlight: Map<Id, Stop> = new Map()
  closed = false
  readonly #options: ConnectionOptions
  #questions: Map<string, PendingQuestion> | undefined = undefined
  #questionCount = 0

  constructor(options: ConnectionOptions) {
    this.id = options.id
    this.#options = options
  }
  get pendingSync(): Promise<unknown> | undefined {
    return this.#options.remote?.pendingSync
  }
  change(change: StateChange): void | Promise<void> {
    const { remote } = this.#options
    if (remote) return remote.change(change)
    this.state = applyChange(this.state, change)
  }
  claimOwnership(owner: string): boolean | Promise<boolean> {
    const isOwner = (): boolean => this.state.owner === owner
    if (this.state.owner !== undefined) return isOwner()
    const changing = this.change({ kind: 'own', owner })
    return changing ? changing.then(isOwner) : isOwner()
  }
  assertUnused(id: Id): void {
    if (this.inFlight.has(id)) throw invalidRequest('this id is in use by a running call')
  }
  enter(id: Id, stop: Stop): void {
    if (this.closed) stop.stop(connectionEnded())
    else this.inFlight.set(id, stop)
  }
  leave(id: Id): void {
    this.inFlight.delete(id)
  }
  cancel(call: Id): void {
    const running = this.inFlight.get(call)
    if (running) running.stop(new RpcError('cancelled', 'Cancelled by the client'))
    else this.#options.remote?.cancel(call)
  }
  request(method: string, params: Params, via: { send(message: object): void; readonly stop: Stop }): Promise<unknown> {
    if (this.closed || via.stop.reason)
      return Promise.reject(new RpcError('cancelled', 'The connection is closed, so the client cannot be asked'))
    const { clock, remote, answerWithinMs } = this.#options
    this.#questions ??= new Map()
    const questions = this.#questions
    // Ids count per connection and are looked up there only, so that guessing another connection's question is useless.
    // With several processes on one connection, counting would give two questions the same id.
    const question = `sluice-${remote ? crypto.randomUUID() : ++this.#questionCount}`
    return new Promise((resolve, reject) => {
      let sent = false
      /** The only exit. A second event finds no open question and does nothing. */
      const end = (settle: () => void): void => {
        if (!questions.delete(question)) return
        remote?.removeQuestion(question)
        cancelTimer()
        unlisten()
        settle()
      }
      const refuse = (error: RpcError): void => end(() => reject(error))
      const abandon = (why: RpcError): void =>
        end(() => {
          reject(why)
          if (sent) via.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: question } })
        })
      const cancelTimer = clock.after(answerWithinMs, () =>
        abandon(new RpcError('timeout', `The client did not answer ${method} in time`)),
      )
      const unlisten = via.stop.onStop(() => abandon(new RpcError('cancelled', 'The call that asked has ended')))
      questions.set(question, {
        reject: refuse,
        settle: (response) =>
          end(() => {
            const error = response['error']
            if (error === undefined) resolve(response['result'])
            else reject(new RpcError('toolFailed', `The client refused ${method}: ${textOf(error)}`))
          }),
      })
      const send = (): void => {
        if (!questions.has(question)) return
        sent = true
        via.send({ jsonrpc: '2.0', id: question, method, params })
      }
      if (remote) remote.registerQuestion(question).then(send).catch(refuse)
      else send()
    })
  }
  settle(question: unknown, response: Params): boolean | Promise<boolean> {
    if (typeof question !== 'string') return false
    const open = this.#questions?.get(question)
    if (!open) return this.#options.remote?.settle(question, response) ?? false
    open.settle(response)
    return true
  }
  notify(event: ServerEvent, deliver: (message: Params) => void): void {
    const then = (): void => {
      const { agreed, subscriptions, tenant } = this.state
      const notification = agreed && !this.closed && notificationOf(event, subscriptions, tenant)
      if (notification) deliver({ jsonrpc: '2.0', ...notification })
    }
    const { pendingSync } = this
    if (pendingSync) pendingSync.then(then, then)
    else then()
  }
  close(): void {
    if (this.closed) return
    this.closed = true
    const ended = connectionEnded()
    for (const { reject } of [...(this.#questions?.values() ?? [])]) reject(ended)
    for (const call of [...this.inFlight.values()]) call.stop(ended)
    this.inFlight.clear()
    this.#options.onClose?.()
  }
}

export const createConnection = (options: ConnectionOptions): Connection => new OpenConnection(options)

const connectionEnded = (): RpcError => new RpcError('cancelled', 'The connection has ended')

/** Returns the client's own text, cut to size because it ends up in a tool error that a model reads. */
const textOf = (error: unknown): string =>
  isObject(error) && typeof error['message'] === 'string' ? error['message'].slice(0, 200) : 'no reason given'
