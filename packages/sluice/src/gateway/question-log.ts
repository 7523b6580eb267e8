/**
 * Records the questions of an upstream during a call, and the answers: digests in the audit, and words on the ticket of
 * a call that a person approved. A question that cannot be recorded on its ticket is not asked.
 */

import type { QuestionContext } from '../client/questions.ts'
import type { Call } from '../core/call.ts'
import { digest } from '../core/digest.ts'
import type { Json, Params } from '../core/json.ts'
import type { AuditLog } from '../core/plugin.ts'
import type { Question } from '../core/target.ts'

/** Records a question. Resolves with the function that records its answer. */
export type RecordQuestion = (
  call: Call,
  question: Question,
  attribution?: QuestionContext['attribution'],
) => Promise<(answer: Params) => Promise<void>>

const maxText = 2000

export const questionLog =
  (upstream: string, { record }: AuditLog): RecordQuestion =>
  async (call, { method, params }, attribution) => {
    const { facts, tenant, target, ticketId } = call
    const about = {
      ...{ call: facts['audit'], target: target.name, upstream, method, question: digest(params as Json) },
      ...(ticketId !== undefined && { ticket: ticketId }),
      ...(facts['grant'] !== undefined && { grant: facts['grant'] }),
    }
    const shown = { key: crypto.randomUUID(), question: textOf(method, params) }
    await call.recordQuestion?.(shown)
    // On stdio a question names no call, so the audit says how its call was found.
    record(tenant.id, 'questionAsked', { ...about, ...(attribution && { attribution }) })
    return async (answer) => {
      const { action } = answer
      await call.recordQuestion?.({ ...shown, answer: excerptOf(JSON.stringify(answer)) })
      const outcome = typeof action === 'string' ? { action } : {}
      record(tenant.id, 'questionAnswered', { ...about, ...outcome, answer: digest(answer as Json) })
    }
  }

function textOf(method: string, { message, ...params }: Params): string {
  const text = typeof message === 'string' ? message : `${method} ${JSON.stringify(params)}`
  return excerptOf(text)
}

/** A text that was cut says so, because its end may change what it means. */
const excerptOf = (text: string): string => (text.length <= maxText ? text : `${text.slice(0, maxText)}…`)
