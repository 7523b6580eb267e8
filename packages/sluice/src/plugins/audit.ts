/** The plugin `audit`, for servers that need no audit outside their calls. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { AuditOptions } from '../observe/audit.ts'
import { createAudit } from '../observe/audit.ts'

/**
 * Records every call that ran or was refused, in a hash chain per tenant in the server's store. Approvals and the console
 * record what people decide: with these, make one with `createAudit` and pass it to all of them.
 */
export const audit = (options: AuditOptions = {}): SlotPlugin<'audit'> => ({
  slot: 'audit',
  create(services) {
    const { store, clock, logger, secrets, hasSecret } = services
    return createAudit({ ...options, store, clock, logger, secret: hasSecret ? secrets() : undefined }).create(services)
  },
})
