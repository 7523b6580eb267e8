/**
 * The schema of a form, limited to what clients can render. Official clients refuse a whole question over one
 * unsupported field, and then the person is never asked. Constraints that a client cannot check are checked when the
 * answer arrives.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Schema } from './schema.ts'
import { toJsonSchema } from './schema.ts'

/** Converted once per schema, because `ask` runs on every round. */
const converted = new WeakMap<Schema, Params>()

const formats: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time'])

/** Converts a schema to a form. Throws a `TypeError` that names a field that no client can render. */
export function formSchema(schema: Schema, message: string): Params {
  const cached = converted.get(schema)
  if (cached) return cached
  const where = `form "${message}"`
  const json = toJsonSchema(schema, 'input', where)
  const { properties, required } = json
  if (json['type'] !== 'object' || !isObject(properties))
    throw new TypeError(`${where}: the schema must describe an object with properties`)
  const fields = Object.entries(properties).map(([name, field]) => {
    const drawn = isObject(field) ? toField(field) : undefined
    if (drawn) return [name, drawn]
    throw new TypeError(
      `${where}: "${name}" must be a string, a number, a boolean, a choice of strings or a list of such choices. Ask for anything else as a string and parse it in run`,
    )
  })
  const made = {
    type: 'object',
    properties: Object.fromEntries(fields),
    ...(Array.isArray(required) && required.length > 0 && { required }),
  }
  converted.set(schema, made)
  return made
}

/** Converts one field; `undefined` if no client can render it. */
function toField(field: Params): Params | undefined {
  const { type, format, items, title, description } = field
  const common = { type, ...pick({ title, description }, isText) }
  if (type === 'boolean') return { ...common, ...pick(field, isBoolean, 'default') }
  const { enum: values, enumNames, oneOf } = field
  const choices = 'const' in field ? [field['const']] : values
  if (type === 'number' || type === 'integer')
    return choices === undefined ? { ...common, ...pick(field, isNumber, 'minimum', 'maximum', 'default') } : undefined
  if (type === 'string') {
    const preset = pick(field, isText, 'default')
    if (oneOf !== undefined) return titled(oneOf, (list) => ({ ...common, oneOf: list, ...preset }))
    if (choices === undefined)
      return {
        ...common,
        ...pick(field, isNumber, 'minLength', 'maxLength'),
        ...(formats.has(format) && { format }),
        ...preset,
      }
    return areTexts(choices) ? { ...common, enum: choices, ...pick({ enumNames }, areTexts), ...preset } : undefined
  }
  if (type !== 'array' || !isObject(items)) return undefined
  const list = (drawn: Params): Params => ({
    ...common,
    ...pick(field, isNumber, 'minItems', 'maxItems'),
    items: drawn,
    ...pick(field, areTexts, 'default'),
  })
  const options = items['anyOf'] ?? items['oneOf']
  if (options !== undefined) return titled(options, (anyOf) => list({ anyOf }))
  const named = 'const' in items ? [items['const']] : items['enum']
  return areTexts(named) ? list({ type: 'string', enum: named }) : undefined
}

/** Converts choices that have titles. A choice without one gets its value as its title. */
function titled(options: unknown, draw: (list: readonly Params[]) => Params): Params | undefined {
  if (!Array.isArray(options) || !options.every((option) => isObject(option) && isText(option['const'])))
    return undefined
  return draw(options.map(({ const: value, title }) => ({ const: value, title: isText(title) ? title : value })))
}

/** Returns the named members, or all if none is named, whose type the protocol accepts. */
const pick = (source: Params, accepts: (value: unknown) => boolean, ...names: readonly string[]): Params =>
  Object.fromEntries(
    Object.entries(source).filter(([name, value]) => accepts(value) && (names.length === 0 || names.includes(name))),
  )
const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number'
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)
