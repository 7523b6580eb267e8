/**
 * The outcome of testing a value: what is wrong with it, and which of its parts were evaluated.
 *
 * Most values pass, and then nothing is allocated: `passed` is shared. Paths are relative to the value, so that an
 * outcome can be remembered for a value wherever it stands.
 */

export type Key = string | number

export interface Issue {
  readonly message: string
  readonly path: readonly Key[]
}
export interface Outcome {
  readonly issues: readonly Issue[]
  /** Members and items that were evaluated, in documents that have `unevaluated…`. Counts only without issues. */
  readonly seen: readonly Key[]
}
export type Test = (value: unknown) => Outcome

export const maxIssues = 20

export const passed: Outcome = { issues: [], seen: [] }
export const failed = (message: string, ...path: readonly Key[]): Outcome => ({ issues: [{ message, path }], seen: [] })
export const isPass = ({ issues }: Outcome): boolean => issues.length === 0

/** Both outcomes together, with at most `maxIssues` issues. */
export function join(first: Outcome, second: Outcome): Outcome {
  if (first === passed) return second
  if (second === passed) return first
  return { issues: [...first.issues, ...second.issues].slice(0, maxIssues), seen: [...first.seen, ...second.seen] }
}

/** The outcome of a member or item, seen from the value that holds it. */
export function below(key: Key, outcome: Outcome): Outcome {
  if (isPass(outcome)) return passed
  return { issues: outcome.issues.map(({ message, path }) => ({ message, path: [key, ...path] })), seen: [] }
}
