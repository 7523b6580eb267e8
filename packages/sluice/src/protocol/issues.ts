/**
 * Codes and hints for refused arguments. Each schema library words its issues differently. They share JSON Schema,
 * which states what was expected at the path of an issue, so the codes are the same for all libraries.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ArgumentIssue } from '../core/target.ts'

const maxIssues = 10

export const toIssues = (
  issues: readonly StandardSchemaV1.Issue[],
  schema: Params,
  args: unknown,
): readonly ArgumentIssue[] => issues.slice(0, maxIssues).map((issue) => toIssue(issue, schema, args))

function toIssue({ message, path = [] }: StandardSchemaV1.Issue, schema: Params, args: unknown): ArgumentIssue {
  const steps = path.map((step) => String(typeof step === 'object' ? step.key : step))
  const param = steps.join('.')
  const expected = schemaAt(schema, steps)
  const value = valueAt(args, steps)
  const named = param === '' ? { message } : { message, param }
  if (value === undefined && steps.length > 0)
    return { code: 'MISSING_REQUIRED_PARAMETER', ...named, hint: `Pass "${param}"${asType(expected)}.` }
  const type = expected['type']
  if (typeof type === 'string' && !isOfType(value, type))
    return { code: 'INVALID_PARAMETER_TYPE', ...named, hint: `"${param || 'arguments'}" must be of type ${type}.` }
  // A comparison with a limit that is not a number is false.
  const limit = (keyword: string): number => numberOf(expected[keyword])
  const [minLength, maxLength] = [limit('minLength'), limit('maxLength')]
  const [minimum, maximum, exclusiveMinimum] = [limit('minimum'), limit('maximum'), limit('exclusiveMinimum')]
  const length = typeof value === 'string' ? value.length : Number.NaN
  const number = numberOf(value)
  if (length < minLength)
    return { code: 'PARAMETER_TOO_SHORT', ...named, minLength, hint: `Use ${minLength} or more characters.` }
  if (length > maxLength) return { code: 'PARAMETER_TOO_LONG', ...named, hint: `Use at most ${maxLength} characters.` }
  if (number < minimum) return { code: 'PARAMETER_TOO_SMALL', ...named, min: minimum, hint: `Use ${minimum} or more.` }
  if (number <= exclusiveMinimum)
    return { code: 'PARAMETER_TOO_SMALL', ...named, min: exclusiveMinimum, hint: `Use more than ${exclusiveMinimum}.` }
  if (number > maximum) return { code: 'PARAMETER_TOO_LARGE', ...named, hint: `Use ${maximum} or less.` }
  const allowed = expected['enum']
  if (Array.isArray(allowed) && !allowed.includes(value))
    return { code: 'INVALID_PARAMETER_VALUE', ...named, hint: `Use one of: ${allowed.slice(0, 20).join(', ')}.` }
  return { code: 'INVALID_PARAMETER', ...named }
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)

const asType = (expected: Params): string => (typeof expected['type'] === 'string' ? ` (${expected['type']})` : '')

function schemaAt(root: Params, steps: readonly string[]): Params {
  let current: Params = root
  for (const step of steps) {
    const properties = current['properties']
    const next = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : current['items']
    if (!isObject(next)) return {}
    current = next
  }
  return current
}

function valueAt(root: unknown, steps: readonly string[]): unknown {
  let current = root
  for (const step of steps) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined
    current = Array.isArray(current) ? current[Number(step)] : isObject(current) ? current[step] : undefined
  }
  return current
}

export function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    default:
      return typeof value === type
  }
}
