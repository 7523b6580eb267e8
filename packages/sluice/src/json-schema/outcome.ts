/**
 * What comes of testing a value: what is wrong with it, and which of its parts were looked at.
 *
 * Paths are relative to the value, so that an outcome can be remembered for a value wherever it stands.
 */

export type Key = string | number

export interface Issue {
  readonly message: string
  readonly path: readonly Key[]
}
export interface Outcome {
  readonly issues: readonly Issue[]
  /** Members and items that were evaluated. Counts only where there are no issues. */
  readonly seen: readonly Key[]
}
export type Test = (value: unknown) => Outcome

export const maxIssues = 20

export const passed: Outcome = { issues: [], seen: [] }
export const failed = (message: string, ...path: readonly Key[]): Outcome => ({ issues: [{ message, path }], seen: [] })
export const isPass = ({ issues }: Outcome): boolean => issues.length === 0

/** All that is wrong, or enough of it. */
export function every<T>(items: Iterable<T>, test: (item: T) => Outcome): Outcome {
  const issues: Issue[] = []
  const seen: Key[] = []
  for (const item of items) {
    const outcome = test(item)
    for (const key of outcome.seen) seen.push(key)
    for (const issue of outcome.issues) issues.push(issue)
    if (issues.length >= maxIssues) break
  }
  return { issues, seen }
}

/** A test, if there is one, of the member or item at `key`, which then counts as evaluated. */
export function below(key: Key, test: Test | undefined, inner: unknown): Outcome {
  if (!test) return passed
  const issues = test(inner).issues.map(({ message, path }) => ({ message, path: [key, ...path] }))
  return { issues, seen: [key] }
}
