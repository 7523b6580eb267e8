/**
 * How a call is ended early, once: by its client, its connection or a deadline.
 *
 * An AbortController costs more than all layers together, so one is made only for work that takes the signal; what is
 * ours listens here.
 */

import { RpcError } from './error.ts'

export interface Stop {
  /** Why, once it happened. */
  readonly reason: RpcError | undefined
  stop(reason: RpcError): void
  /** Calls `then` when it happens, or at once if it has; the returned function forgets it. */
  onStop(then: (reason: RpcError) => void): () => void
  /** The same for everything that speaks `AbortSignal`. */
  readonly signal: AbortSignal
}

type StopListener = (reason: RpcError) => void

/** Nearly every call has one hearer (its deadline), so that one needs no collection. */
class StopOnce implements Stop {
  reason: RpcError | undefined = undefined
  #first: StopListener | undefined = undefined
  #more: Set<StopListener> | undefined = undefined
  #controller: AbortController | undefined = undefined
  stop(reason: RpcError): void {
    if (this.reason) return
    this.reason = reason
    // Ours first: whoever waits for the answer must hear the reason before the work throws because of the signal.
    this.#first?.(reason)
    for (const hear of [...(this.#more ?? [])]) hear(reason)
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

/** Follows a signal of somebody else's; the returned function lets go of it. */
export function followSignal(signal: AbortSignal, stop: Stop): () => void {
  const end = (): void => stop.stop(new RpcError('cancelled', 'Cancelled'))
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return () => signal.removeEventListener('abort', end)
}
