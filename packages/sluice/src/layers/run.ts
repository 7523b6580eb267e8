/** The innermost handler, which runs the prepared work. */

import type { Handler } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

/** Adds no promise around the work's promise, because every call would wait three turns longer for it. */
export const run: Handler = (call) => {
  try {
    if (!call.ready) throw new RpcError('internalError', 'validate did not run')
    const answer = call.ready.run(call, call.answers)
    return answer instanceof Promise ? answer : Promise.resolve(answer)
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}
