/** Which revision `initialize` settles on. */

import type { Params } from '../../core/json.ts'
import type { RevisionName } from '../revisions.ts'
import { isLegacy, newestLegacy } from '../revisions.ts'

/** A supported one is echoed; a client that names none predates the choice; anything else gets our newest. */
export function negotiate({ protocolVersion }: Params): RevisionName {
  if (protocolVersion === undefined) return '2024-11-05'
  return isLegacy(protocolVersion) ? protocolVersion : newestLegacy
}
