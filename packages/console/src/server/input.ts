/** Checks a request against the table. Path, query and body become one typed input, or the request is refused. */

import type { Params } from 'sluice'
import { RpcError } from 'sluice'
import { isObject } from 'sluice/internal'
import type { RouteInput, RouteName } from '../api/index.ts'
import { routes } from '../api/index.ts'

/** The part of JSON Schema that inputs use. */
interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

export interface MatchedRoute {
  readonly name: RouteName
  /** The path parameters, decoded. */
  readonly pathParams: { readonly [name: string]: string }
}

const routePatterns = Object.entries(routes).map(([name, { method, path }]) => ({
  name: name as RouteName,
  method,
  pattern: path.split('/'),
}))

/** Finds the route. `undefined` if no route has this path; `other method` if only the method differs. */
export function findRoute(method: string, path: string): MatchedRoute | 'other method' | undefined {
  const segments = path.split('/')
  let hasOtherMethod = false
  for (const { name, method: routeMethod, pattern } of routePatterns) {
    const pathParams = matchPath(pattern, segments)
    if (!pathParams) continue
    if (routeMethod === method) return { name, pathParams }
    hasOtherMethod = true
  }
  return hasOtherMethod ? 'other method' : undefined
}

function matchPath(pattern: readonly string[], segments: readonly string[]): { [name: string]: string } | undefined {
  if (pattern.length !== segments.length) return undefined
  const pathParams: { [name: string]: string } = {}
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? ''
    if (!expected.startsWith('{')) {
      if (expected !== segment) return undefined
      continue
    }
    const decoded = decode(segment)
    if (decoded === undefined || decoded === '') return undefined
    pathParams[expected.slice(1, -1)] = decoded
  }
  return pathParams
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Refuses unknown fields, because a misspelt filter would otherwise show everything. */
export function parseInput<Name extends RouteName>(
  { name, pathParams }: MatchedRoute,
  query: URLSearchParams,
  body: unknown,
): RouteInput<Name> {
  const { method, input } = routes[name]
  const fields: { readonly [field: string]: FieldSchema } = input.properties
  const required: readonly string[] = 'required' in input ? input.required : []
  const received: Params =
    method === 'GET'
      ? { ...Object.fromEntries(query), ...pathParams }
      : { ...(isObject(body) ? body : refuseBody('a JSON object')), ...pathParams }
  const parsed: { [field: string]: unknown } = {}
  for (const [field, value] of Object.entries(received)) {
    const rule = Object.hasOwn(fields, field) ? fields[field] : undefined
    if (!rule) throw invalid(`unknown field "${field.slice(0, 64)}"`)
    parsed[field] = checkField(field, rule, method === 'GET' && rule.type === 'integer' ? toInteger(value) : value)
  }
  const missing = required.find((field) => !Object.hasOwn(parsed, field))
  if (missing !== undefined) throw invalid(`"${missing}" is missing`)
  return parsed as RouteInput<Name>
}

function checkField(
  field: string,
  { type, enum: choices, maxLength = 256, minimum, maximum }: FieldSchema,
  value: unknown,
): unknown {
  if (choices) {
    if (typeof value !== 'string' || !choices.includes(value))
      throw invalid(`"${field}" must be one of ${choices.join(', ')}`)
  } else if (type === 'string') {
    if (typeof value !== 'string' || value.length > maxLength)
      throw invalid(`"${field}" must be a string of at most ${maxLength} characters`)
  } else if (type === 'boolean') {
    if (typeof value !== 'boolean') throw invalid(`"${field}" must be true or false`)
  } else if (!Number.isSafeInteger(value) || Number(value) < (minimum ?? 0) || Number(value) > (maximum ?? 1 / 0))
    throw invalid(`"${field}" must be a whole number from ${minimum} to ${maximum}`)
  return value
}

const toInteger = (value: unknown): number =>
  typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN

const invalid = (problem: string): RpcError => new RpcError('invalidParams', problem)
function refuseBody(what: string): never {
  throw invalid(`the body must be ${what}`)
}
