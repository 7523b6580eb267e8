/**
 * Returns the values that the sealed state of a call is bound to. State of another caller, tool, definition or argument
 * does not open.
 */

import type { Call } from './call.ts'
import { definitionHash } from './definition-hash.ts'
import { digest } from './digest.ts'
import type { Key } from './store.ts'

export const callBinding = ({ tenant, caller, method, target, args }: Call): Key => [
  tenant.id,
  caller.subject,
  method,
  target.name,
  definitionHash(target),
  digest(args),
]
