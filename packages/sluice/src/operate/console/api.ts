/**
 * The API behind the console, as one table: `routes`, and the `schemas` they speak of. The handlers, the page's client, the
 * checks of what comes in and the OpenAPI document are all made from it, so none of them can say otherwise.
 *
 * Imports nothing else: the page takes it in, too.
 */

import type { routes } from './routes.ts'
import type { ConsoleSchemas, FromSchema } from './schemas.ts'

export { routes } from './routes.ts'
export { schemas } from './schemas.ts'

export type ConsoleRoutes = typeof routes
/** A route of the console’s API, by its name in `routes`. */
export type RouteName = keyof ConsoleRoutes

/** What a route takes. */
export type RouteInput<Name extends RouteName> = FromSchema<ConsoleRoutes[Name]['input']>
/** What a route answers. */
export type RouteOutput<Name extends RouteName> = FromSchema<ConsoleRoutes[Name]['output']>

export type Operator = FromSchema<ConsoleSchemas['Operator']>
export type SessionInfo = FromSchema<ConsoleSchemas['Session']>
export type Ticket = FromSchema<ConsoleSchemas['Ticket']>
export type TicketSummary = FromSchema<ConsoleSchemas['TicketSummary']>
export type TicketPage = FromSchema<ConsoleSchemas['TicketPage']>
export type GrantSummary = FromSchema<ConsoleSchemas['Grant']>
export type RecentRequest = FromSchema<ConsoleSchemas['Request']>
export type SecondStats = FromSchema<ConsoleSchemas['Second']>
export type CountReading = FromSchema<ConsoleSchemas['Count']>
export type LiveSnapshot = FromSchema<ConsoleSchemas['Live']>
export type ToolSummary = FromSchema<ConsoleSchemas['Tool']>
export type ServerSummary = FromSchema<ConsoleSchemas['Server']>
export type TenantSummary = FromSchema<ConsoleSchemas['Tenant']>
export type LimitUsage = FromSchema<ConsoleSchemas['Limit']>
export type KeySummary = FromSchema<ConsoleSchemas['Key']>
export type AuditRecord = FromSchema<ConsoleSchemas['AuditRecord']>
export type AuditCheckResult = FromSchema<ConsoleSchemas['Verdict']>
export type ApiProblem = FromSchema<ConsoleSchemas['Problem']>

/** What `GET /api/events` sends, by the name of the event. Server-sent events, so no JSON Schema of its own. */
export interface ConsoleEvents {
  /** Tickets came, were decided or expired: ask again. */
  readonly tickets: { readonly pending: number }
  /** What passed since, at most a screenful; `missed` is how many more there were. */
  readonly requests: { readonly requests: readonly RecentRequest[]; readonly missed: number }
  readonly second: { readonly second: SecondStats; readonly counts: readonly CountReading[] }
  /** The session is over. */
  readonly over: Record<string, never>
}
