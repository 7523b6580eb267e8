/**
 * The refusal of requests above a connection's limit. Reading never stops for them, because answers would be stuck
 * behind them.
 */

import { RpcError } from '../core/error.ts'

/** Refuses one request, by its id, so that the client knows which one to send again. */
export const tooManyRequests = (): RpcError =>
  new RpcError('overloaded', 'Too many requests are running on this connection: wait for answers, then try again', {
    data: { retryAfterMs: 1000 },
  })
