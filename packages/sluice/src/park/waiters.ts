/** The requests that wait for the next questions or the outcome of one call. Usually there is one. */

import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import type { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'

export interface Waiters {
  /** Adds a request. `answer` settles with what `resolve` or `reject` gives it; `leave` lets it no longer wait. */
  add(request: Call): Waiting
  latest(): Call | undefined
  resolve(answer: (request: Call) => Answer | Promise<Answer>): void
  reject(thrown: unknown): void
  /** Sends a notification to the latest request, if it waits. */
  notify(method: string, params: Params): void
}

export interface Waiting {
  readonly answer: Promise<Answer>
  leave(): void
}

/** Sends a notification of the work to a request. Progress gets the request's token, and is dropped if it has none. */
export function forward(request: Call, method: string, params: Params): void {
  const { progressToken } = request.meta
  if (method !== 'notifications/progress') request.notify(method, params)
  else if (progressToken !== undefined) request.notify(method, { ...params, progressToken })
}

/** `abandoned` is called when the last waiting request ends early. */
export function createWaiters(abandoned: (reason: RpcError) => void): Waiters {
  const waiting = new Map<Call, PromiseWithResolvers<Answer>>()
  let last: Call | undefined
  function settle(each: (request: Call, promised: PromiseWithResolvers<Answer>) => void): void {
    const settled = [...waiting]
    waiting.clear()
    for (const [request, promised] of settled) each(request, promised)
  }
  return {
    add(request) {
      const promised = Promise.withResolvers<Answer>()
      waiting.set(request, promised)
      last = request
      const unlisten = request.stop.onStop((reason) => {
        if (!waiting.delete(request)) return
        promised.reject(reason)
        if (waiting.size === 0) abandoned(reason)
      })
      return {
        answer: promised.promise.finally(unlisten),
        leave() {
          unlisten()
          waiting.delete(request)
        },
      }
    },
    latest: () => last,
    resolve(answer) {
      settle((request, { resolve, reject }) => {
        try {
          resolve(answer(request))
        } catch (thrown) {
          reject(thrown)
        }
      })
    },
    reject(thrown) {
      settle((_, { reject }) => reject(thrown))
    },
    notify(method, params) {
      if (!last || !waiting.has(last)) return
      forward(last, method, params)
    },
  }
}
