/**
 * The outcome of testing a value: its issues, and which of its members or items were evaluated.
 *
 * Most values pass, and then nothing is allocated, because `passed` is shared. Paths are relative to the value, so that
 * an outcome can be cached for a value at any position.
 */

export type PathKey = string | number

export interface SchemaIssue {
  readonly message: string
  readonly path: readonly PathKey[]
}
export interface TestOutcome {
  readonly issues: readonly SchemaIssue[]
  /** Evaluated members and items, in documents that have `unevaluated…`. Valid only without issues. */
  readonly seen: readonly PathKey[]
}
export type SchemaTest = (value: unknown) => TestOutcome

export const maxIssues = 20

export const passed: TestOutcome = { issues: [], seen: [] }
export const failed = (message: string, ...path: readonly PathKey[]): TestOutcome => ({
  issues: [{ message, path }],
  seen: [],
})
export const isPass = ({ issues }: TestOutcome): boolean => issues.length === 0

/** Joins both outcomes, with at most `maxIssues` issues. */
export function joinOutcomes(first: TestOutcome, second: TestOutcome): TestOutcome {
  if (first === passed) return second
  if (second === passed) return first
  return { issues: [...first.issues, ...second.issues].slice(0, maxIssues), seen: [...first.seen, ...second.seen] }
}

/** Returns the outcome of a member or item with paths relative to the parent value. */
export function prefixPath(key: PathKey, outcome: TestOutcome): TestOutcome {
  if (isPass(outcome)) return passed
  return { issues: outcome.issues.map(({ message, path }) => ({ message, path: [key, ...path] })), seen: [] }
}
