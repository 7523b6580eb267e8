/**
 * The outcome of testing a value: what is wrong with it, and which of its parts were evaluated.
 *
 * Most values pass, and then nothing is allocated: `passed` is shared. Paths are relative to the value, so that an
 * outcome can be remembered for a value wherever it stands.
 */

export type PathKey = string | number

export interface SchemaIssue {
  readonly message: string
  readonly path: readonly PathKey[]
}
export interface TestOutcome {
  readonly issues: readonly SchemaIssue[]
  /** Members and items that were evaluated, in documents that have `unevaluated…`. Counts only without issues. */
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

/** Both outcomes together, with at most `maxIssues` issues. */
export function joinOutcomes(first: TestOutcome, second: TestOutcome): TestOutcome {
  if (first === passed) return second
  if (second === passed) return first
  return { issues: [...first.issues, ...second.issues].slice(0, maxIssues), seen: [...first.seen, ...second.seen] }
}

/** The outcome of a member or item, seen from the value that holds it. */
export function prefixPath(key: PathKey, outcome: TestOutcome): TestOutcome {
  if (isPass(outcome)) return passed
  return { issues: outcome.issues.map(({ message, path }) => ({ message, path: [key, ...path] })), seen: [] }
}
