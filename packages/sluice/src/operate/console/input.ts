/** What a request brings, checked against the table: path, query and body become one typed input, or a refusal. */

import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { RouteInput, RouteName } from './api.ts'
import { routes } from './api.ts'

/** As much of JSON Schema as inputs use. */
interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

export interface MatchedRoute {
  readonly name: RouteName
  /** What the path's places held, decoded. */
  readonly pathParams: { readonly [name: string]: string }
}

const routePatterns = Object.entries(routes).map(([name, { method, path }]) => ({
  name: name as RouteName,
  method,
  parts: path.split('/'),
}))

/** `undefined` where no route has this path; one without a name where the path is there and the method is another. */
export function findRoute(method: string, path: string): MatchedRoute | 'other method' | undefined {
  const given = path.split('/')
  let other = false
  for (const { name, method: own, parts } of routePatterns) {
    const pathParams = matchPath(parts, given)
    if (!pathParams) continue
    if (own === method) return { name, pathParams }
    other = true
  }
  return other ? 'other method' : undefined
}

function matchPath(parts: readonly string[], given: readonly string[]): { [name: string]: string } | undefined {
  if (parts.length !== given.length) return undefined
  const pathParams: { [name: string]: string } = {}
  for (const [at, part] of parts.entries()) {
    const text = given[at] ?? ''
    if (!part.startsWith('{')) {
      if (part !== text) return undefined
      continue
    }
    const decoded = decode(text)
    if (decoded === undefined || decoded === '') return undefined
    pathParams[part.slice(1, -1)] = decoded
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

/** Names nobody defined are refused: a misspelt filter must not show everything. */
export function parseInput<Name extends RouteName>(
  { name, pathParams }: MatchedRoute,
  query: URLSearchParams,
  body: unknown,
): RouteInput<Name> {
  const { method, input } = routes[name]
  const fields: { readonly [field: string]: FieldSchema } = input.properties
  const required: readonly string[] = 'required' in input ? input.required : []
  const given: Params =
    method === 'GET'
      ? { ...Object.fromEntries(query), ...pathParams }
      : { ...(isObject(body) ? body : refuseBody('a JSON object')), ...pathParams }
  const parsed: { [field: string]: unknown } = {}
  for (const [field, value] of Object.entries(given)) {
    const rule = Object.hasOwn(fields, field) ? fields[field] : undefined
    if (!rule) throw invalid(`there is no field "${field.slice(0, 64)}" here`)
    parsed[field] = checkField(field, rule, method === 'GET' && rule.type === 'integer' ? toInteger(value) : value)
  }
  const missing = required.find((field) => !Object.hasOwn(parsed, field))
  if (missing !== undefined) throw invalid(`"${missing}" is missing`)
  return parsed as RouteInput<Name>
}

function checkField(
  field: string,
  { type, enum: among, maxLength = 256, minimum, maximum }: FieldSchema,
  value: unknown,
): unknown {
  if (among) {
    if (typeof value !== 'string' || !among.includes(value)) throw invalid(`"${field}" is one of ${among.join(', ')}`)
  } else if (type === 'string') {
    if (typeof value !== 'string' || value.length > maxLength)
      throw invalid(`"${field}" is a text of at most ${maxLength} characters`)
  } else if (type === 'boolean') {
    if (typeof value !== 'boolean') throw invalid(`"${field}" is true or false`)
  } else if (!Number.isSafeInteger(value) || Number(value) < (minimum ?? 0) || Number(value) > (maximum ?? 1 / 0))
    throw invalid(`"${field}" is a whole number from ${minimum} to ${maximum}`)
  return value
}

const toInteger = (value: unknown): number =>
  typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN

const invalid = (problem: string): RpcError => new RpcError('invalidParams', problem)
function refuseBody(what: string): never {
  throw invalid(`the body must be ${what}`)
}
