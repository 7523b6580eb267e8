/** The caller and tenant of an observed call. */

import type { Call } from '../core/call.ts'

/** Returns the caller, if it is known. Inner layers work on copies of the call, so they report it in the facts. */
export const callerOf = ({ facts, caller }: Call): string => String(facts['caller'] ?? caller.subject)
export const tenantOf = ({ facts, tenant }: Call): string => String(facts['tenant'] ?? tenant.id)
