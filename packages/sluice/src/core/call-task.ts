/** How the layers inside the tasks layer reach the task that a call may become. */

import type { Answer } from './answer.ts'
import type { Params } from './json.ts'
import type { Question } from './target.ts'

/** Set by the tasks layer on a call that may become a task, or that is the run of one. */
export interface CallTask {
  readonly id: string
  /** Answers that were given before the task was created: the run must not ask again. */
  readonly answers?: Params
  /** The ticket that this run spends. A run never proposes another one. */
  readonly ticket?: string
  /** Called right before the work. A call that becomes a task at once goes on when the task is written. */
  start(): Promise<void> | undefined
  /** Answers a call that needs an approval with a task that waits for the decision. `given`: the person's answers. */
  approvalRequired(ticket: AwaitedTicket, given: Params): Promise<Answer>
  /** Asks in the middle of the work. Resolves when everything is answered, each answer as its question accepted it. */
  // biome-ignore lint/suspicious/noExplicitAny: the types of the answers are known where the questions are written.
  ask(questions: { readonly [name: string]: Question | undefined }): Promise<any>
}

/** A ticket that a person has yet to decide. */
export interface AwaitedTicket {
  readonly id: string
  /** Where a person decides; `undefined` if the operator has named no console. */
  readonly url: string | undefined
  /** How long a person has left to decide, and the caller then to run the call. */
  readonly decideMs: number
  readonly runMs: number
}
