/** What surrounds a ticket: the other calls of its caller, from the audit, and the answer of its run. */

import { readAudit } from 'sluice/audit'
import { createPacer } from 'sluice/internal'
import type { Operator, TicketContext } from '../api/index.ts'
import type { ConsoleState } from './console-state.ts'
import { viewOf } from './tickets.ts'

const historyMs = 10 * 60_000
const maxCalls = 10
/** A busy tenant has many records in ten minutes, so the search ends here. */
const maxScanned = 2_000
const windowSize = 200
const maxResultChars = 4_000

export async function getTicketContext(
  consoleState: ConsoleState,
  operator: Operator,
  id: string,
): Promise<TicketContext> {
  const { approvals, view } = await viewOf(consoleState, operator, id)
  const [calls, result] = await Promise.all([
    recentCalls(consoleState, view.tenant, view.caller.subject),
    approvals.result(id),
  ])
  if (!result) return { calls }
  const { text, ...rest } = result
  // Removes a lone surrogate at the cut.
  const shown = text.slice(0, maxResultChars).replace(/[\uD800-\uDBFF]$/, '')
  return { calls, result: { text: shown, isWhole: shown === text, ...rest } }
}

async function recentCalls(
  { store, clock }: ConsoleState,
  tenant: string,
  caller: string,
): Promise<TicketContext['calls']> {
  const calls: TicketContext['calls'][number][] = []
  const from = clock.now() - historyMs
  const pace = createPacer(clock)
  let before: number | undefined
  for (let scanned = 0; scanned < maxScanned; scanned += windowSize) {
    const window = await readAudit(store, tenant, { before, limit: windowSize })
    for (const { record } of window.entries) {
      const { at, kind, target, outcome, durationMs, ticket } = record
      if (Number(at) < from) return calls
      if (kind !== 'ended' || record['caller'] !== caller) continue
      calls.push({
        ...{ at: Number(at), target: String(target), outcome: String(outcome) },
        ...(typeof durationMs === 'number' && { durationMs }),
        ...(typeof ticket === 'string' && { ticket }),
      })
      if (calls.length === maxCalls) return calls
    }
    before = window.before
    if (before === undefined) break
    await pace()
  }
  return calls
}
