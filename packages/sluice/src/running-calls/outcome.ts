/** How the work of a running call ended, as its record states it. */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import { RpcError } from '../core/error.ts'
import { errorReply } from '../protocol/encode.ts'
import { modernRevision, revisions } from '../protocol/revisions.ts'
import type { RunningCallOutcome } from './record.ts'
import { WrittenResult } from './record.ts'

/** An outcome, and a sentence for `statusMessage`. */
export interface EndedWork {
  readonly outcome: RunningCallOutcome
  readonly message?: string
}

/** The official client takes no inlined result without `resultType`. */
export function outcomeOfAnswer(answer: Answer): WrittenResult {
  if (answer instanceof Prepared || (answer.resultType ?? 'complete') !== 'complete')
    throw new TypeError('A tool must answer with its result once it runs')
  // A value that is not JSON fails here, where the failure can still be reported.
  return new WrittenResult({ ...answer, resultType: 'complete' })
}

/** What the model should read is a result with `isError`; every other failure ends the task as failed. */
export function outcomeOfThrown(thrown: unknown, reference: string): EndedWork {
  if (thrown instanceof RpcError && thrown.reason === 'cancelled') return { outcome: { cancelled: true } }
  const reply = errorReply({
    ...{ id: 0, method: 'tools/call', features: revisions[modernRevision], thrown, reference, style: 'mcp' },
  })
  if ('error' in reply) return { outcome: { error: reply.error }, message: reply.error.message }
  return { outcome: outcomeOfAnswer(reply.answer) }
}

export const inDoubt = (reference: string): RpcError =>
  new RpcError('internalError', 'The process that ran this task has ended: it is unknown whether it had its effect', {
    data: { state: 'in doubt', reference },
  })
