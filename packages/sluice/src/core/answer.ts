/** What a handler gives back. */

/** In the newest revision's words, without envelope fields; encoding projects it onto the caller's revision. */
export interface Result {
  readonly resultType?: 'complete' | 'input_required' | 'task'
  readonly isError?: boolean
  readonly [key: string]: unknown
}

/**
 * A list answer made ahead, as text, for one revision and one visible set. Pass it on or replace it: being a class, it
 * cannot be copied with a spread by a layer that meant to change a result.
 */
export class Prepared {
  /** The whole `result`, envelope fields included. */
  readonly json: string
  /** How many entries it lists, for the log. */
  readonly count: number | undefined
  constructor(json: string, count?: number) {
    this.json = json
    this.count = count
  }
}

/** What a handler resolves with. */
export type Answer = Result | Prepared
