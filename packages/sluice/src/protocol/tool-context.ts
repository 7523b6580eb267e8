/** What a tool, resource or prompt works with while it runs: made innermost, from the call as the last layer left it. */

import type { Call, Caller } from '../core/call.ts'
import { fail } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Store } from '../core/store.ts'
import type { LogLevel } from './logging.ts'
import { clientLog } from './logging.ts'
import type { Answers, Asks } from './questions.ts'
import { featuresOf } from './revisions.ts'

/** What `run` gets besides the input: who is calling, where to keep things, and ways to say something meanwhile. */
export interface ToolContext<A extends Asks = Record<never, never>> {
  readonly call: Call
  readonly caller: Caller
  /** What the person said to the questions of `ask`, checked and typed. */
  readonly answers: Answers<A>
  /** The tenant's own store. */
  readonly store: Store
  /** Aborts when the client cancels or the deadline passes. Hand it on to whatever you wait for. */
  readonly signal: AbortSignal
  /**
   * Asks in the middle of the work. Only in a task: a call that is not one yet becomes one, and a client without tasks
   * cannot be asked. Rejects if the person declines.
   */
  readonly ask: <B extends Asks>(questions: B) => Promise<Answers<B>>
  /** Reports progress to a client that asked for it. Values that do not grow are left out, as the protocol asks, and so is what is no number. */
  readonly progress: (done: number, total?: number, message?: string) => void
  /** A log message for the client. Sent where the client asked for that level; never put secrets in it. */
  readonly log: (level: LogLevel, data: unknown, logger?: string) => void
  /** Tells subscribers that this resource changed. */
  readonly resourceUpdated: (uri: string) => void
  /**
   * Ends the HTTP response of a long call; a client of 2025-11-25 comes back for the rest by `Last-Event-ID`. On other
   * transports and revisions nothing happens.
   */
  readonly detach: () => void
}

/** Getters, so that a call pays only for what its tool takes. */
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

/** `ask` checked each answer against its question, so this is the one place where their types are asserted. */
export const toolContextOf = <A extends Asks>(call: Call, given: Params): ToolContext<A> =>
  new CallToolContext<A>(call, given as unknown as Answers<A>)

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
