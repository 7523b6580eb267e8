/** The servers and their tools, as an operator wants to see them. */

import type { Target } from '../../core/target.ts'
import type { ToolEntry } from '../../protocol/tools.ts'
import type { ServerInfo, Ticket, Tool } from './api.ts'
import type { Panel, Watched } from './panel.ts'

export function serversOf(panel: Panel, tenants: readonly string[]): readonly ServerInfo[] {
  return panel.servers.map((server) => {
    const { info, tools = [] } = server.definition()
    return {
      name: server.name,
      version: info.version,
      ...(info.title !== undefined && { title: info.title }),
      ...(info.description !== undefined && { description: info.description }),
      tools: tools.map((tool) => toTool(panel, server, tool, tenants)),
      rules: (panel.desk?.rules ?? []).map(({ place, text }) => ({ place, text })),
    }
  })
}

function toTool(panel: Panel, { name: server }: Watched, target: Target, tenants: readonly string[]): Tool {
  const { policy } = target
  // Every tool has one; a target in general may not.
  const entry = target.entry as ToolEntry
  return {
    server,
    name: entry.name,
    ...(entry.title !== undefined && { title: entry.title }),
    description: entry.description,
    hints: hintsOf({ ...entry.annotations }),
    scopes: policy.scopes,
    approval: approvals[policy.approval],
    timeoutMs: Number.isFinite(policy.timeoutMs) ? policy.timeoutMs : 0,
    input: entry.inputSchema,
    ...(entry.outputSchema && { output: entry.outputSchema }),
    ...panel.live.totals(server, entry.name, tenants),
  }
}

const approvals = { never: 'never', always: 'always', depends: 'by its arguments' } as const

/** What a tool says of itself, in words. */
export const hintsOf = (stated: { readonly [hint: string]: unknown }): Ticket['hints'] =>
  words.filter(([hint]) => stated[hint] === true).map(([, word]) => word)

const words = [
  ['readOnlyHint', 'read-only'],
  ['destructiveHint', 'destructive'],
  ['idempotentHint', 'idempotent'],
  ['openWorldHint', 'open-world'],
] as const
