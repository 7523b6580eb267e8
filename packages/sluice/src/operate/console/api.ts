/**
 * The API behind the console, as one table: `routes`, and the `shapes` they speak of. The handlers, the page's client, the
 * checks of what comes in and the OpenAPI document are all made from it, so none of them can say otherwise.
 *
 * Imports nothing else: the page takes it in, too.
 */

import type { routes } from './routes.ts'
import type { Shape, Shapes } from './shapes.ts'

export { routes } from './routes.ts'
export { shapes } from './shapes.ts'

export type Routes = typeof routes
/** A route of the console’s API, by its name in `routes`. */
export type RouteName = keyof Routes

/** What a route takes. */
export type Input<Name extends RouteName> = Shape<Routes[Name]['input']>
/** What a route answers. */
export type Output<Name extends RouteName> = Shape<Routes[Name]['output']>

export type Operator = Shape<Shapes['Operator']>
export type Session = Shape<Shapes['Session']>
export type Ticket = Shape<Shapes['Ticket']>
export type TicketSummary = Shape<Shapes['TicketSummary']>
export type TicketPage = Shape<Shapes['TicketPage']>
export type Grant = Shape<Shapes['Grant']>
export type Request = Shape<Shapes['Request']>
export type Second = Shape<Shapes['Second']>
export type Count = Shape<Shapes['Count']>
export type Live = Shape<Shapes['Live']>
export type Tool = Shape<Shapes['Tool']>
export type ServerInfo = Shape<Shapes['Server']>
export type Tenant = Shape<Shapes['Tenant']>
export type Limit = Shape<Shapes['Limit']>
export type Key = Shape<Shapes['Key']>
export type AuditRecord = Shape<Shapes['AuditRecord']>
export type Verdict = Shape<Shapes['Verdict']>
export type Problem = Shape<Shapes['Problem']>

/** What `GET /api/events` sends, by the name of the event. Server-sent events, so no JSON Schema of its own. */
export interface Events {
  /** Tickets came, were decided or expired: ask again. */
  readonly tickets: { readonly pending: number }
  /** What passed since, at most a screenful; `missed` is how many more there were. */
  readonly requests: { readonly requests: readonly Request[]; readonly missed: number }
  readonly second: { readonly second: Second; readonly counts: readonly Count[] }
  /** The session is over. */
  readonly over: Record<string, never>
}
