/** The HTTP status of each refusal. This is the only table that maps reasons to statuses. */

import type { Reason, RpcError } from '../../core/error.ts'
import type { Features } from '../../protocol/revisions.ts'

/** Reasons that are not listed concern the tool, not HTTP, so they travel in a 200. */
const statuses: { readonly [reason in Reason]?: number } = {
  parseError: 400,
  invalidRequest: 400,
  invalidEnvelope: 400,
  headerMismatch: 400,
  missingCapability: 400,
  unsupportedVersion: 400,
  sessionMissing: 400,
  sessionNotFound: 404,
  payloadTooLarge: 413,
  unsupportedMedia: 415,
  notAcceptable: 406,
  badOrigin: 403,
  methodNotAllowed: 405,
  unauthorized: 401,
  forbidden: 403,
  insufficientScope: 403,
  rateLimited: 429,
  overloaded: 503,
  shuttingDown: 503,
  storeUnavailable: 503,
}

export function statusOf({ reason }: RpcError, features: Features | undefined): number {
  if (reason === 'methodNotFound') return features?.era === 'modern' ? 404 : 200
  return statuses[reason] ?? 200
}
