/** Raw arguments in, work ready to run on: after authorization, so that schemas are no oracle for the uninvited. */

import type { Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import { invalidArguments } from '../protocol/encode.ts'
import { checkParamHeaders } from '../protocol/modern/headers.ts'
import { modernRevision } from '../protocol/revisions.ts'

export const validate: Layer = (next) =>
  async function validate(call) {
    const { target, args, via, revision } = call
    if (target.headers && via.transport === 'http' && revision === modernRevision)
      checkParamHeaders(via, target.headers, args)
    const prepared = target.prepare(args)
    const ready = prepared instanceof Promise ? await prepared : prepared
    if ('issues' in ready) {
      const refused = invalidArguments(target.name, ready.issues)
      throw target.kind === 'tool' ? refused : new RpcError('invalidParams', refused.message, { data: refused.data })
    }
    return next({ ...call, ready })
  }
