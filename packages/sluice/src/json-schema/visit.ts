/** What the rules of the walk share: where they are, what they have to tell, and what of a value was evaluated. */

export const maxIssues = 20

export type Key = string | number

export interface Issue {
  readonly message: string
  readonly path: readonly Key[]
}

export interface Visit {
  readonly path: readonly Key[]
  /** Absent while alternatives are tried out: then the first failure is enough. */
  readonly issues: Issue[] | undefined
  /** Which parts of this value were evaluated, where the schema asks for it. */
  readonly seen: Set<Key> | undefined
}

/** Whether the value passes. Says why not, unless it was asked in silence. */
export type Test = (value: unknown, at: Visit) => boolean

export function fail({ issues, path }: Visit, message: string, ...below: readonly Key[]): false {
  issues?.push({ message, path: [...path, ...below] })
  return false
}

/** All of them, so that every issue is told; in silence, or when enough is told, only up to the first. */
export function every<T>(items: Iterable<T>, at: Visit, test: (item: T) => boolean): boolean {
  let passed = true
  for (const item of items) {
    if (test(item)) continue
    passed = false
    if (!at.issues || at.issues.length >= maxIssues) return false
  }
  return passed
}

/** The same place, with nothing evaluated yet. */
export const aside = (at: Visit, issues?: Issue[]): Visit => ({ path: at.path, issues, seen: at.seen && new Set() })

/** Another schema, if there is one, for the same value. What it evaluated counts if it passes. */
export function same(test: Test | undefined, value: unknown, at: Visit, issues?: Issue[]): boolean {
  const inner = aside(at, issues)
  const passed = !test || test(value, inner)
  if (passed) for (const key of inner.seen ?? []) at.seen?.add(key)
  return passed
}

/** A schema, if there is one, for the member or item at `key`, which counts as evaluated from here on. */
export function below(test: Test | undefined, value: unknown, key: Key, at: Visit): boolean {
  if (!test) return true
  at.seen?.add(key)
  return test(value, { ...aside(at, at.issues), path: [...at.path, key] })
}
