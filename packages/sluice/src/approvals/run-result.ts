/** The answer of a ticket's run, for the people who decided. The idempotency layer stores it. */

import { parseIdempotencyRecord, recordKey } from '../core/idempotency-record.ts'
import { isObject } from '../core/json.ts'
import type { Store } from '../core/store.ts'
import type { Proposal, TicketState } from './ticket.ts'

/** The answer of a run, as text. */
export interface RunResult {
  readonly text: string
  readonly isError: boolean
  /** How long the run took. Absent if the process ended before it was recorded. */
  readonly durationMs?: number
}

export async function readRunResult(
  serverStore: Store,
  { id, tenant, caller }: Pick<Proposal, 'id' | 'tenant' | 'caller'>,
  { startedAt, endedAt }: Pick<TicketState, 'startedAt' | 'endedAt'> = {},
): Promise<RunResult | undefined> {
  const stored = await serverStore.get(recordKey(tenant, caller.subject, { ticket: id }))
  const record = stored === undefined ? undefined : parseIdempotencyRecord(stored)
  if (record?.state !== 'done') return undefined
  const duration = startedAt !== undefined && endedAt !== undefined && { durationMs: endedAt - startedAt }
  if (record.failure) return { text: record.failure.message, isError: true, ...duration }
  const { answer } = record
  return answer && { text: contentText(answer), isError: answer['isError'] === true, ...duration }
}

/** Joins the text blocks. Other content is named by its type. */
function contentText(answer: { readonly [field: string]: unknown }): string {
  const { content } = answer
  if (!Array.isArray(content)) return JSON.stringify(answer)
  return content
    .map((block: unknown) => {
      if (!isObject(block)) return ''
      return typeof block['text'] === 'string' ? block['text'] : `(${String(block['type'])})`
    })
    .join('\n')
}
