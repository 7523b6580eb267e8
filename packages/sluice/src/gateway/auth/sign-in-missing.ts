/** The refusal of a request whose caller has no credential. It is made before anything is sent. */

import { ClientError } from '../../client/errors.ts'
import { unavailable } from '../upstream-error.ts'

/** Returns the refusal for the connection. Its cause is what the client reads. */
export function signInMissing(upstream: string): ClientError {
  const text = `You are not signed in to ${upstream}, or the sign-in has ended. The call did not run: call again to sign in`
  return new ClientError('unauthorized', text, { mayHaveRun: false, cause: unavailable(text, { signIn: upstream }) })
}
