/**
 * What the rules of the walk share: where they are, what they have to tell, and which parts of a value were evaluated.
 */

export const maxIssues = 20

export type Key = string | number

export interface Issue {
  readonly message: string
  readonly path: readonly Key[]
}

/** Whether the value passes. Says why not, unless it was asked in silence. */
export type Test = (value: unknown, at: Visit) => boolean

export interface Visit {
  readonly path: Path | undefined
  /** Absent while alternatives are tried out: then the first failure is enough. */
  readonly issues: Issue[] | undefined
  /** Which parts of this value were evaluated, where the schema asks for it. */
  readonly seen: Set<Key> | undefined
  readonly run: Run
}
/** A chain: copying a list at every step would cost a deep value its depth for each of its parts. */
interface Path {
  readonly up: Path | undefined
  readonly key: Key
}
interface Run {
  left: number
  /** By schema and value: without it, alternatives inside alternatives would be walked exponentially often. */
  readonly known: Map<string, Map<unknown, Known>>
}
export interface Known {
  readonly passed: boolean
  /** What it was asked with, and what there was to tell. */
  readonly at: Visit
}

export const pathOf = (path: Path | undefined): readonly Key[] => (path ? [...pathOf(path.up), path.key] : [])

export function fail(at: Visit, message: string, ...below: readonly Key[]): false {
  if (at.issues) tell(at, [{ message, path: [...pathOf(at.path), ...below] }])
  return false
}

/** Up to the limit, and nothing twice: schemas joined by `allOf` like to ask for the same thing. */
export function tell({ issues }: Visit, more: readonly Issue[]): false {
  for (const { message, path } of more) {
    const isTold = issues?.some((issue) => issue.message === message && String(issue.path) === String(path))
    if (issues && issues.length < maxIssues && !isTold) issues.push({ message, path })
  }
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
export const aside = (at: Visit, issues?: Issue[]): Visit => ({ ...at, issues, seen: at.seen && new Set() })

/** Another schema for the same value. What it evaluated counts if it passes. */
export function same(test: Test, value: unknown, at: Visit, issues?: Issue[]): boolean {
  const inner = aside(at, issues)
  const passed = test(value, inner)
  if (passed) for (const key of inner.seen ?? []) at.seen?.add(key)
  return passed
}

/** The member or item at `key`, which counts as evaluated from here on. */
export function below(test: Test, value: unknown, key: Key, at: Visit): boolean {
  at.seen?.add(key)
  return test(value, { ...aside(at, at.issues), path: { up: at.path, key } })
}
