/**
 * The console's API as one table: `routes` and their `schemas`. The handlers, the page's client, the input checks and the
 * OpenAPI document are all made from it, so that they cannot differ.
 *
 * It imports nothing else, because the page bundles it too.
 */

import type { ConsoleRoutes } from './routes/index.ts'
import type { FromSchema } from './schemas/from-schema.ts'
import type { ConsoleSchemas } from './schemas/index.ts'

export { routes } from './routes/index.ts'
export { schemas } from './schemas/index.ts'

/** A route of the console’s API, by its name in `routes`. */
export type RouteName = keyof ConsoleRoutes

/** The input of a route. */
export type RouteInput<Name extends RouteName> = FromSchema<ConsoleRoutes[Name]['input']>
/** The output of a route. */
export type RouteOutput<Name extends RouteName> = FromSchema<ConsoleRoutes[Name]['output']>

export type Operator = FromSchema<ConsoleSchemas['Operator']>
export type SessionInfo = FromSchema<ConsoleSchemas['Session']>
export type Ticket = FromSchema<ConsoleSchemas['Ticket']>
export type TicketSummary = FromSchema<ConsoleSchemas['TicketSummary']>
export type TicketContext = FromSchema<ConsoleSchemas['TicketContext']>
export type TicketPage = FromSchema<ConsoleSchemas['TicketPage']>
export type GrantSummary = FromSchema<ConsoleSchemas['Grant']>
export type RecentRequest = FromSchema<ConsoleSchemas['Request']>
export type SecondStats = FromSchema<ConsoleSchemas['Second']>
export type CountReading = FromSchema<ConsoleSchemas['Count']>
export type RunningTask = FromSchema<ConsoleSchemas['Running']>
export type LiveSnapshot = FromSchema<ConsoleSchemas['Live']>
export type LayerTime = FromSchema<ConsoleSchemas['LayerTime']>
export type ToolAttempt = FromSchema<ConsoleSchemas['Attempt']>
export type MinuteStats = FromSchema<ConsoleSchemas['Minute']>
/** The configuration that connects one client. */
export type ClientFile = FromSchema<ConsoleSchemas['ClientFile']>
export type UpstreamSummary = FromSchema<ConsoleSchemas['Upstream']>
export type OwnSignIns = FromSchema<ConsoleSchemas['OwnSignIns']>
export type DefinitionDiffView = FromSchema<ConsoleSchemas['Definition']>
export type KeyAccess = FromSchema<ConsoleSchemas['Access']>
export type ToolAccess = FromSchema<ConsoleSchemas['ToolAccess']>
export type ConnectionSummary = FromSchema<ConsoleSchemas['Connection']>
export type ToolSummary = FromSchema<ConsoleSchemas['Tool']>
export type ServerSummary = FromSchema<ConsoleSchemas['Server']>
export type TenantSummary = FromSchema<ConsoleSchemas['Tenant']>
export type LimitUsage = FromSchema<ConsoleSchemas['Limit']>
export type KeySummary = FromSchema<ConsoleSchemas['Key']>
export type AuditRecord = FromSchema<ConsoleSchemas['AuditRecord']>
export type AuditCheckResult = FromSchema<ConsoleSchemas['Verdict']>
export type ApiProblem = FromSchema<ConsoleSchemas['Problem']>

/** The events of `GET /api/events`, by name. They are Server-Sent Events, so they have no JSON Schema here. */
export interface ConsoleEvents {
  /** Tickets were added, decided or expired, so the page should load them again. */
  readonly tickets: { readonly pending: number }
  /** The requests since the last event, at most a screenful. `missed` is the number of others. */
  readonly requests: { readonly requests: readonly RecentRequest[]; readonly missed: number }
  readonly second: {
    readonly second: SecondStats
    readonly counts: readonly CountReading[]
    readonly running: readonly RunningTask[]
  }
  /** The session has ended. */
  readonly over: Record<string, never>
}
