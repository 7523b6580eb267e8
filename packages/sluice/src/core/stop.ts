/**
 * Ends a call early, once, because of its client, its connection or a deadline.
 *
 * An AbortController costs more than all layers together. It is therefore made only for work that takes the signal;
 * Sluice's own code listens here.
 */

import { RpcError } from './error.ts'

export interface Stop {
  /** The reason, once the call is stopped. */
  readonly reason: RpcError | undefined
  stop(reason: RpcError): void
  /** Calls `then` when the call is stopped, or at once if it already is. The returned function unsubscribes. */
  onStop(then: (reason: RpcError) => void): () => void
  /** The same as an `AbortSignal`. */
  readonly signal: AbortSignal
}

type StopListener = (reason: RpcError) => void

/** Nearly every call has exactly one listener (its deadline), so the first one needs no collection. */
class StopOnce implements Stop {
  reason: RpcError | undefined = undefined
  #first: StopListener | undefined = undefined
  #more: Set<StopListener> | undefined = undefined
  #controller: AbortController | undefined = undefined
  stop(reason: RpcError): void {
    if (this.reason) return
    this.reason = reason
    // Listeners first: the code that waits for the answer must get the reason before the work throws because of the
    // signal.
    this.#first?.(reason)
    for (const listener of [...(this.#more ?? [])]) listener(reason)
    this.#controller?.abort(reason)
  }
  onStop(then: StopListener): () => void {
    if (this.reason) then(this.reason)
    else if (!this.#first) {
      this.#first = then
      return () => {
        if (this.#first === then) this.#first = undefined
      }
    } else {
      this.#more ??= new Set()
      this.#more.add(then)
    }
    return () => this.#more?.delete(then)
  }
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.reason) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }
}

export const createStop = (): Stop => new StopOnce()

/** Stops the call when a foreign signal aborts. The returned function unsubscribes. */
export function followSignal(signal: AbortSignal, stop: Stop): () => void {
  const cancel = (): void => stop.stop(new RpcError('cancelled', 'Cancelled'))
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel, { once: true })
  return () => signal.removeEventListener('abort', cancel)
}
