/** The servers and their tools, as the console shows them. */

import type { Target, ToolEntry } from 'sluice/internal'
import { createRules } from 'sluice/internal'
import type { ServerSummary, Ticket, ToolSummary } from '../api/index.ts'
import type { ConsoleState, WatchedServer } from './console-state.ts'

export function serversOf(consoleState: ConsoleState, tenants: readonly string[]): readonly ServerSummary[] {
  return consoleState.servers.map((server) => {
    const { version, title, description, tools: defined = [] } = server.definition()
    const tools = defined.map((tool) => toTool(consoleState, server, tool, tenants))
    return {
      name: server.name,
      version,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      tools,
      tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0),
      authenticated: server.authenticated,
      rules: rulesFor(consoleState, tenants),
    }
  })
}

/** Hides rules for other tenants, and the names of other tenants in the rest. */
function rulesFor({ approvals }: ConsoleState, tenants: readonly string[]): ServerSummary['rules'] {
  const visible = (approvals?.rules ?? []).flatMap((rule) => {
    if (rule.tenant === undefined || tenants.length === 0) return [rule]
    const own = [rule.tenant].flat().filter((tenant) => tenants.includes(tenant))
    return own.length > 0 ? [{ ...rule, tenant: own }] : []
  })
  return createRules(visible).views.map(({ text }, index) => ({ place: visible[index]?.place ?? index, text }))
}

function toTool(
  consoleState: ConsoleState,
  { name: server }: WatchedServer,
  target: Target,
  tenants: readonly string[],
): ToolSummary {
  const { policy } = target
  // Every tool has an entry, although a target in general may not.
  const entry = target.entry as ToolEntry
  return {
    server,
    name: entry.name,
    ...(entry.title !== undefined && { title: entry.title }),
    description: entry.description,
    hints: hintsOf({ ...entry.annotations }),
    scopes: policy.scopes,
    approval: approvalLabels[policy.approval],
    timeoutMs: Number.isFinite(policy.timeoutMs) ? policy.timeoutMs : 0,
    input: entry.inputSchema,
    ...(entry.outputSchema && { output: entry.outputSchema }),
    tokens: estimateTokens(entry),
    ...consoleState.live.totals(server, entry.name, tenants),
  }
}

/** About four characters are one token. The true number differs by model, and for other languages than English. */
const charsPerToken = 4

const estimateTokens = (entry: ToolEntry): number => Math.ceil(JSON.stringify(entry).length / charsPerToken)

const approvalLabels = { never: 'never', always: 'always', depends: 'depends on the arguments' } as const

/** Returns the hints that a tool states, in words. */
export const hintsOf = (stated: { readonly [hint: string]: unknown }): Ticket['hints'] =>
  hintLabels.filter(([hint]) => stated[hint] === true).map(([, word]) => word)

const hintLabels = [
  ['readOnlyHint', 'read-only'],
  ['destructiveHint', 'destructive'],
  ['idempotentHint', 'idempotent'],
  ['openWorldHint', 'open-world'],
] as const
