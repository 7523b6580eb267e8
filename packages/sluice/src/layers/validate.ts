/**
 * Turns raw arguments into work that is ready to run. It runs after authorization, so that schemas reveal nothing to
 * unauthorized callers.
 */

import type { Call, Handler, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { ArgumentIssues, Ready } from '../core/target.ts'
import { invalidArguments } from '../protocol/encode.ts'
import { checkParamHeaders } from '../protocol/modern/headers.ts'
import { modernRevision } from '../protocol/revisions.ts'

export const validateLayer: Layer = (next) => {
  // Most schemas check synchronously, and then there is nothing to wait for.
  return function validate(call) {
    const { target, args, via, revision } = call
    if (target.headers && via.transport === 'http' && revision === modernRevision)
      checkParamHeaders(via, target.headers, args)
    const complete = target.preset ? { ...call, args: target.preset.addTo(args) } : call
    const prepared = target.prepare(complete.args)
    return prepared instanceof Promise
      ? prepared.then((settled) => proceed(complete, settled))
      : proceed(complete, prepared)
  }

  function proceed(call: Call, prepared: Ready | ArgumentIssues): ReturnType<Handler> {
    if (!('issues' in prepared)) return next({ ...call, ready: prepared })
    const { kind, name } = call.target
    const refused = invalidArguments(name, prepared.issues)
    throw kind === 'tool' ? refused : new RpcError('invalidParams', refused.message, { data: refused.data })
  }
}
