/** The names of arguments that a tool refused, for the log. The values of arguments are never logged. */

import { isObject } from '../core/json.ts'
import type { Target } from '../core/target.ts'

const maxIssues = 32

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
