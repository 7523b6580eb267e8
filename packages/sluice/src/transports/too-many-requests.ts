/** What a connection answers to requests past its limit. It is never stopped reading for them, or answers would be stuck behind. */

import { RpcError } from '../core/error.ts'

/** Refused by its id, so that the client knows which request to send again. */
export const tooManyRequests = (): RpcError =>
  new RpcError('overloaded', 'Too many requests are running on this connection: wait for answers, then try again', {
    data: { retryAfterMs: 1000 },
  })
