/** Approvals: calls that a person must allow first, and what people do with them. */

export type { Decider } from './deciding.ts'
export type { Desk, DeskAround, DeskOptions, TicketChange, TicketQuery } from './desk.ts'
export { createOffice as createDesk } from './desk.ts'
export type { Grant, GrantQuery, GrantScope, Grants, GrantsOptions, NewGrant } from './grants.ts'
export type { Hint, Rule, RuleView } from './rules.ts'
export type { Approver, Decision, Proposal, TicketStatus, TicketView, Via } from './ticket.ts'
