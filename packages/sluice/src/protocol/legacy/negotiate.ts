/** Chooses the revision for `initialize`. */

import type { Params } from '../../core/json.ts'
import type { RevisionName } from '../revisions.ts'
import { isLegacy, newestLegacy } from '../revisions.ts'

/**
 * Returns the client's revision if it is supported. A client that names none predates the choice; any other gets our
 * newest.
 */
export function negotiate({ protocolVersion }: Params): RevisionName {
  if (protocolVersion === undefined) return '2024-11-05'
  return isLegacy(protocolVersion) ? protocolVersion : newestLegacy
}
