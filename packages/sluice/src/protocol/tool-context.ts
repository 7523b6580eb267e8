/**
 * The context in which a tool, resource or prompt runs. It is made innermost, from the call that the last layer passed
 * on.
 */

import type { Call, Caller } from '../core/call.ts'
import { fail } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Store } from '../core/store.ts'
import type { LogLevel } from './logging.ts'
import { clientLog } from './logging.ts'
import type { Answers, Asks } from './questions.ts'
import { featuresOf } from './revisions.ts'

/** What `run` receives besides the input: the caller, a store, and ways to report during the call. */
export interface ToolContext<A extends Asks = Record<never, never>> {
  readonly call: Call
  readonly caller: Caller
  /** The person's answers to the questions of `ask`, checked and typed. */
  readonly answers: Answers<A>
  /** The tenant's own store. */
  readonly store: Store
  /** Aborts when the client cancels or the deadline passes. Pass it to everything you wait for. */
  readonly signal: AbortSignal
  /**
   * Asks in the middle of the work. Only in a task: a call that is not one yet becomes one, and a client without tasks
   * cannot be asked. Rejects if the person declines.
   */
  readonly ask: <B extends Asks>(questions: B) => Promise<Answers<B>>
  /**
   * Reports progress to a client that requested it. Values that do not grow are dropped, as the protocol requires, and
   * so are values that are not numbers.
   */
  readonly progress: (done: number, total?: number, message?: string) => void
  /** Sends a log message to the client if it requested that level. Never put secrets in it. */
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void
  /** Notifies subscribers that this resource changed. */
  readonly resourceUpdated: (uri: string) => void
  /**
   * Ends the HTTP response of a long call. A client of 2025-11-25 fetches the rest with `Last-Event-ID`. Does nothing
   * on other transports and revisions.
   */
  readonly detach: () => void
}

/** Uses getters, so that a call pays only for the members its tool uses. */
class CallToolContext<A extends Asks> implements ToolContext<A> {
  readonly call: Call
  readonly answers: Answers<A>
  #progress: ToolContext<A>['progress'] | undefined
  constructor(call: Call, answers: Answers<A>) {
    this.call = call
    this.answers = answers
  }
  get caller(): Caller {
    return this.call.caller
  }
  get store(): Store {
    return this.call.tenant.store
  }
  get signal(): AbortSignal {
    return this.call.stop.signal
  }
  get progress(): ToolContext<A>['progress'] {
    this.#progress ??= progressTo(this.call)
    return this.#progress
  }
  get ask(): ToolContext<A>['ask'] {
    return this.call.task?.ask ?? refuseToAsk
  }
  get log(): ToolContext<A>['log'] {
    return clientLog(this.call)
  }
  get resourceUpdated(): ToolContext<A>['resourceUpdated'] {
    return (uri) => this.call.publish({ kind: 'resource', uri, tenant: this.call.tenant.id })
  }
  get detach(): ToolContext<A>['detach'] {
    return this.call.detach
  }
}

/**
 * Makes the context. `ask` checked each answer against its question, so this is the one place that asserts their types.
 */
export const toolContextOf = <A extends Asks>(call: Call, answers: Params): ToolContext<A> =>
  new CallToolContext<A>(call, answers as unknown as Answers<A>)

const refuseToAsk = (): Promise<never> => Promise.reject(fail('This tool asks while it works: use a client with tasks'))

function progressTo(call: Call): ToolContext['progress'] {
  const { progressToken } = call.meta
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return () => {}
  const withMessage = featuresOf(call.revision).progressMessage
  let last = Number.NEGATIVE_INFINITY
  return function progress(done, total, message) {
    if (!(done > last && done < Number.POSITIVE_INFINITY)) return
    last = done
    call.notify('notifications/progress', {
      progressToken,
      progress: done,
      ...(Number.isFinite(total) && { total }),
      ...(message !== undefined && withMessage && { message }),
    })
  }
}
