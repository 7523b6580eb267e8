/**
 * Failures of an upstream connection as refusals of the call. The caller must know whether the call may have run,
 * because only a call that certainly did not run may be repeated.
 */

import { ClientError } from '../client/errors.ts'
import type { Reason } from '../core/error.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'

/** Returns the refusal of a call that certainly did not run. */
export const unavailable = (text: string, data: Params = {}, cause?: unknown): RpcError =>
  new RpcError('upstreamUnavailable', text, { data: { mayHaveRun: false, ...data }, cause })

/** Returns the refusal for a failure of `upstream`. A value that is not a `ClientError` is returned as it is. */
export function toUpstreamError(thrown: unknown, upstream: string): unknown {
  if (!(thrown instanceof ClientError)) return thrown
  const { reason, mayHaveRun, cause } = thrown
  // The credential of the caller is missing, and the cause says what to do.
  if (reason === 'unauthorized' && cause instanceof RpcError) return cause
  const refusal = (as: Reason, text: string): RpcError =>
    new RpcError(as, text, { data: { mayHaveRun }, cause: thrown })
  if (reason === 'cancelled') return refusal('cancelled', 'Cancelled')
  if (!mayHaveRun) return refusal('upstreamUnavailable', `${upstream} is unavailable. The call did not run: try again`)
  if (reason === 'timeout') return refusal('timeout', `${upstream} did not answer in time. The call may have run`)
  if (reason === 'tooLarge')
    return refusal('resultTooLarge', `The answer of ${upstream} is too large. The call may have run: request less`)
  return refusal(
    'upstreamInDoubt',
    `${upstream} failed before it answered. The call may have run and was not repeated: check before you repeat it`,
  )
}

/** Returns the refusal of a request whose caller has no credential, before anything is sent. The client reads its cause. */
export function signInMissing(upstream: string): ClientError {
  const text = `You are not signed in to ${upstream}, or the sign-in has ended. The call did not run: call again to sign in`
  return new ClientError('unauthorized', text, { mayHaveRun: false, cause: unavailable(text, { signIn: upstream }) })
}
