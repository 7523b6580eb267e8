/** The routes of the console's API, with their inputs and outputs. */

import { auditRoutes } from './audit.ts'
import { serverRoutes } from './servers.ts'
import { sessionRoutes } from './session.ts'
import { tenantRoutes } from './tenants.ts'
import { ticketRoutes } from './tickets.ts'
import { upstreamRoutes } from './upstreams.ts'

export type ConsoleRoutes = typeof sessionRoutes &
  typeof ticketRoutes &
  typeof serverRoutes &
  typeof upstreamRoutes &
  typeof tenantRoutes &
  typeof auditRoutes

/** `needs` is a scope of the operator. Routes without it are open to every signed-in operator. */
export const routes: ConsoleRoutes = {
  ...sessionRoutes,
  ...ticketRoutes,
  ...serverRoutes,
  ...upstreamRoutes,
  ...tenantRoutes,
  ...auditRoutes,
}
