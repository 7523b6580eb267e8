/** An archive that is locked, full, damaged or away, told to the model as a tool's failure: it can pass it on. */

import type { Layer } from 'sluice'
import { fail, RpcError } from 'sluice'
import { WorkspaceDeleted } from './archive.ts'

export const archiveErrors: Layer = (next) =>
  async function archiveErrors(call) {
    try {
      return await next(call)
    } catch (thrown) {
      const cause = thrown instanceof RpcError && thrown.reason === 'toolCrashed' ? thrown.cause : thrown
      if (cause instanceof WorkspaceDeleted) throw fail('The workspace was deleted meanwhile; nothing was changed.')
      if (cause instanceof RpcError && cause.reason === 'storeUnavailable' && call.method === 'tools/call')
        throw fail(
          `${cause.message}. Nothing was changed; what was stored before is safe. Tell the person, and try again later.`,
        )
      throw thrown
    }
  }
