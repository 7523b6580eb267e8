/**
 * Arguments that may be logged: those whose schema has `"x-sluice-log": true`. No other argument is logged, so a
 * forgotten mark hides a field and never reveals one.
 */

import { isObject } from '../core/json.ts'
import type { Target } from '../core/target.ts'

export interface LoggedArgument {
  /** The field of the line: `args.` and the path. */
  readonly field: string
  readonly path: readonly string[]
}

/** Cached by target, which is made once per definition, so that the schema is walked once instead of per call. */
const cache = new WeakMap<Target, readonly LoggedArgument[]>()
const none: readonly LoggedArgument[] = []

export function loggedArguments(target: Target): readonly LoggedArgument[] {
  const found = cache.get(target)
  if (found) return found
  const marked = target.kind === 'tool' && 'entry' in target ? findMarked(target.entry) : none
  cache.set(target, marked)
  return marked
}

/**
 * Finds marked arguments through `properties` only, because an argument below `items` or `anyOf` has no single name.
 */
function findMarked(entry: unknown): readonly LoggedArgument[] {
  const found: LoggedArgument[] = []
  const open: [schema: unknown, path: readonly string[]][] = [[isObject(entry) ? entry['inputSchema'] : undefined, []]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [schema, path] = next
    if (!isObject(schema)) continue
    if (schema['x-sluice-log'] === true && path.length > 0) found.push({ field: `args.${path.join('.')}`, path })
    const { properties } = schema
    if (isObject(properties) && path.length < maxDepth)
      for (const [name, sub] of Object.entries(properties)) open.push([sub, [...path, name]])
  }
  return found.length > 0 ? found : none
}

/**
 * Returns the names of the refused arguments. Only names in the schema are used, because the caller sent any other
 * name.
 */
export function refusedArguments(target: Target, issues: unknown): string | undefined {
  if (!Array.isArray(issues)) return undefined
  const schema = 'entry' in target && isObject(target.entry) ? target.entry['inputSchema'] : undefined
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  const found = new Set<string>()
  for (const issue of issues.slice(0, maxIssues)) {
    const param = isObject(issue) ? issue['param'] : undefined
    if (typeof param !== 'string') continue
    const name = Object.keys(properties).find(
      (each) => param === each || (/^[.[]/.test(param.slice(each.length)) && param.startsWith(each)),
    )
    found.add(name ?? '(not in the schema)')
  }
  return found.size === 0 ? undefined : [...found].join(', ')
}
const maxIssues = 32

/** A schema may contain itself, and framing limits the depth of arguments anyway. */
const maxDepth = 8
const maxLength = 256

/** Returns a string, number or boolean at the path. Any other value could contain unmarked data. */
export function scalarAt(args: unknown, path: readonly string[]): string | number | boolean | undefined {
  let value = args
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  if (typeof value === 'string') return value.slice(0, maxLength).toWellFormed()
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}
