/**
 * A call whose work may ask while it runs, until it asks. Nearly all calls never do, so what a parked call needs is made
 * with the first question. A class, because closures would be made for each call.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Handler } from '../core/call.ts'
import { callAsync } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Stop } from '../core/stop.ts'
import { createStop } from '../core/stop.ts'
import type { Question } from '../core/target.ts'
import type { ParkDeps } from './deps.ts'
import type { ParkedCall } from './parked-call.ts'
import { createParkedCall } from './parked-call.ts'
import { forward } from './waiters.ts'

export class ParkableCall {
  readonly #deps: ParkDeps
  readonly #request: Call
  /** The work may outlive its request, so it has a separate stop. */
  readonly #stop: Stop = createStop()
  readonly #answered: PromiseWithResolvers<Answer> = Promise.withResolvers()
  #work: Promise<Answer> | undefined = undefined
  #unlisten: (() => void) | undefined = undefined
  #isOver = false
  #parked: ParkedCall | undefined = undefined
  constructor(deps: ParkDeps, request: Call) {
    this.#deps = deps
    this.#request = request
  }

  /** Runs the work. Resolves with the answer to the request: the work's own, or its questions. */
  run(next: Handler): Promise<Answer> {
    const call: Call = {
      ...this.#request,
      stop: this.#stop,
      park: { ask: (questions) => this.#ask(questions) },
      notify: (method, params) => this.#notify(method, params),
    }
    const work = callAsync(next, call)
    this.#work = work
    work.then(
      (answer) => this.#end(() => this.#answered.resolve(answer)),
      (thrown: unknown) => this.#end(() => this.#answered.reject(thrown)),
    )
    if (this.#parked) this.#follow(this.#parked)
    else this.#unlisten = this.#request.stop.onStop((reason) => this.#abandon(reason))
    return this.#answered.promise
  }

  /** The request ended early, and with it the work. */
  #abandon(reason: RpcError): void {
    this.#end(() => this.#answered.reject(reason))
    this.#stop.stop(reason)
  }
  #end(settle: () => void): void {
    if (this.#isOver || this.#parked) return
    this.#isOver = true
    this.#unlisten?.()
    settle()
  }
  #ask(questions: { readonly [name: string]: Question | undefined }): Promise<Params> {
    if (this.#isOver) return Promise.reject(this.#stop.reason ?? new RpcError('cancelled', 'Cancelled'))
    if (!this.#parked) {
      this.#parked = createParkedCall(this.#deps, this.#request, this.#stop)
      // From now on the parked call decides what the end of a request means.
      this.#unlisten?.()
      if (this.#work) this.#follow(this.#parked)
    }
    return this.#parked.ask(questions)
  }
  #follow(parked: ParkedCall): void {
    if (this.#work) parked.follow(this.#work).then(this.#answered.resolve, this.#answered.reject)
  }
  #notify(method: string, params: Params): void {
    if (this.#parked) this.#parked.notify(method, params)
    else if (!this.#isOver) forward(this.#request, method, params)
  }
}
