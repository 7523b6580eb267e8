/** The innermost handler, which runs the prepared work. */

import type { Handler } from '../core/call.ts'
import { RpcError } from '../core/error.ts'

export const run: Handler = (call) => {
  if (!call.ready) throw new RpcError('internalError', 'validate did not run')
  return call.ready.run(call, call.answers)
}
