/** The value a handler returns. */

/**
 * A result in the terms of the newest revision, without envelope fields. Encoding projects it onto the caller's
 * revision.
 */
export interface Result {
  readonly resultType?: 'complete' | 'input_required' | 'task'
  readonly isError?: boolean
  readonly [key: string]: unknown
}

/**
 * A list answer that was serialized ahead of time for one revision and one visible set. A layer passes it on or
 * replaces it. It is a class, so that a layer that means to change a result cannot copy it with a spread.
 */
export class Prepared {
  /** The whole `result`, including the envelope fields. */
  readonly json: string
  /** Number of listed entries, for the log. */
  readonly count: number | undefined
  constructor(json: string, count?: number) {
    this.json = json
    this.count = count
  }
}

/** What a handler resolves with. */
export type Answer = Result | Prepared
