/** The client of the gateway at an authorization server. Its secret may come from elsewhere, and is read when it is needed. */

import type { RegisteredClient } from '../../client/oauth/client-identity.ts'
import { messageOf } from '../../core/error.ts'
import { unavailable } from '../upstream-error.ts'
import type { AuthContext } from './types.ts'

/** A registered client, or a function that reads it. */
export type ClientSource = RegisteredClient | (() => Promise<RegisteredClient>)

/** Returns a function that reads the client once. A failed read is tried again. */
export function readClient(
  source: ClientSource | undefined,
  { upstream, logger }: Pick<AuthContext, 'upstream' | 'logger'>,
): () => Promise<RegisteredClient | undefined> {
  if (typeof source !== 'function') return () => Promise.resolve(source)
  let reading: Promise<RegisteredClient> | undefined
  return () => {
    reading ??= source().catch((thrown: unknown) => {
      reading = undefined
      logger.error({ event: 'clientSecretMissing', upstream, message: messageOf(thrown) })
      throw unavailable(`The gateway has no secret for ${upstream}: tell the operator`)
    })
    return reading
  }
}
