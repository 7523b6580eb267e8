/**
 * The JSON Schemas of the console's API, one file per page. They are plain literals, from which `FromSchema` computes the
 * types.
 */

import { accessSchemas } from './access.ts'
import { auditSchemas } from './audit.ts'
import { clientSchemas } from './clients.ts'
import { grantSchemas } from './grants.ts'
import { liveSchemas } from './live.ts'
import { problemSchemas } from './problem.ts'
import { requestSchemas } from './requests.ts'
import { sessionSchemas } from './session.ts'
import { tenantSchemas } from './tenants.ts'
import { ticketSchemas } from './tickets.ts'
import { toolSchemas } from './tools.ts'
import { connectionSchemas, upstreamSchemas } from './upstreams.ts'

export type ConsoleSchemas = typeof sessionSchemas &
  typeof ticketSchemas &
  typeof grantSchemas &
  typeof requestSchemas &
  typeof clientSchemas &
  typeof upstreamSchemas &
  typeof accessSchemas &
  typeof connectionSchemas &
  typeof liveSchemas &
  typeof toolSchemas &
  typeof tenantSchemas &
  typeof auditSchemas &
  typeof problemSchemas

/** The JSON Schemas of the console’s API, by name, in the order of its document. */
export const schemas: ConsoleSchemas = {
  ...sessionSchemas,
  ...ticketSchemas,
  ...grantSchemas,
  ...requestSchemas,
  ...clientSchemas,
  ...upstreamSchemas,
  ...accessSchemas,
  ...connectionSchemas,
  ...liveSchemas,
  ...toolSchemas,
  ...tenantSchemas,
  ...auditSchemas,
  ...problemSchemas,
}
