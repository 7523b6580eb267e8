/**
 * Reports a locked, full, damaged or unreachable archive to the model as a tool failure, so that it can tell the user.
 * A database whose connection broke may have committed the last change, and its answer was lost.
 */

import type { Layer } from 'sluice'
import { fail, RpcError } from 'sluice'
import { WorkspaceDeleted } from './archive.ts'

export const archiveErrors =
  (isRemote: boolean): Layer =>
  (next) =>
    async function archiveErrors(call) {
      try {
        return await next(call)
      } catch (thrown) {
        const cause = thrown instanceof RpcError && thrown.reason === 'toolCrashed' ? thrown.cause : thrown
        if (cause instanceof WorkspaceDeleted)
          throw fail('The workspace was deleted in the meantime; nothing was changed.')
        if (cause instanceof RpcError && cause.reason === 'storeUnavailable' && call.method === 'tools/call')
          throw fail(
            isRemote
              ? `${cause.message}. Earlier memories are safe. A change may have been made, so look before you repeat it. Tell the user, and try again later.`
              : `${cause.message}. Nothing was changed, and earlier memories are safe. Tell the user, and try again later.`,
          )
        throw thrown
      }
    }
