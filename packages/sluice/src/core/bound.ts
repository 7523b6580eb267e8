/** What the sealed state of a call is bound to: that of another caller, tool, definition or argument does not open. */

import type { Call } from './call.ts'
import { hashOf } from './definition-hash.ts'
import { digest } from './digest.ts'
import type { Key } from './store.ts'

export const boundTo = ({ tenant, caller, method, target, args }: Call): Key => [
  tenant.id,
  caller.subject,
  method,
  target.name,
  hashOf(target),
  digest(args),
]
