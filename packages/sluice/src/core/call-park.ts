/** How the work of a call asks while it runs, and the request waits for nothing meanwhile. */

import type { Params } from './json.ts'
import type { Question } from './target.ts'

/** Set by the park layer on a call whose work may ask while it runs. */
export interface CallPark {
  /** Asks, and resolves when everything is answered, each answer as its question accepted it. */
  ask(questions: { readonly [name: string]: Question | undefined }): Promise<Params>
}
