/**
 * `npm run console-api`: docs/console-api.md from the table of routes and schemas that the console is built from.
 * With `--check` it writes nothing, and fails if the page differs.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { routes, schemas } from '@sluice/console'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly items?: Schema
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

const link = (name: string): string => `[${name}](#${name.toLowerCase()})`

/** The type of a field in a few words. An object in place is shown by the names of its fields. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return link(schema.$ref)
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'values'}`
  if (schema.properties) return `object: ${fieldNames(schema)}`
  if (typeof schema.additionalProperties === 'object')
    return `object of ${typeOf(schema.additionalProperties)}, by name`
  const { maxLength, minimum, maximum } = schema
  const limits = [
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
  ].join(' ')
  return `${schema.type ?? 'any'}${limits && `, ${limits}`}`
}

const fieldNames = ({ properties = {}, required = [] }: Schema): string =>
  Object.keys(properties)
    .map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``)
    .join(', ')

function fieldTable({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const text = [typeOf(schema), schema.description ?? schema.items?.description ?? ''].filter((part) => part !== '')
    return `| \`${name}\`${required.includes(name) ? '' : ' (optional)'} | ${text.join('. ').replaceAll('|', '\\|')} |`
  })
  return rows.length === 0 ? 'No fields.' : ['| field | |', '|---|---|', ...rows].join('\n')
}

interface Route {
  readonly method: string
  readonly path: string
  readonly about: string
  readonly needs?: string
  readonly input: Schema
  readonly output: Schema
}

const routeText = (name: string, { method, path, about, needs, input, output }: Route): string =>
  [
    `### \`${method} ${path}\``,
    `\`${name}\`. ${about}${needs === undefined ? '' : ` Needs the scope \`${needs}\`.`}`,
    ...(Object.keys(input.properties ?? {}).length > 0 ? [fieldTable(input)] : []),
    `Answers with ${output.$ref === undefined && Object.keys(output.properties ?? {}).length === 0 ? 'an empty object' : typeOf(output)}.`,
  ].join('\n\n')

const page = `${[
  '# The console API, field by field',
  'Made from the table that the console checks requests with (`routes` and `schemas` of `@sluice/console`): change it there, then run `npm run console-api`. The same table is served as OpenAPI 3.1 at `/api/openapi.json`. How to sign in and who may do what: [The console](console.md).',
  'Call it with an operator key: `Authorization: Bearer op_…`. Fields of a GET are query parameters; fields of a POST are a JSON object. A name in braces is part of the path. An unknown field is refused. Times are milliseconds since 1970. A refusal is a [Problem](#problem).',
  '## Routes',
  ...Object.entries<Route>(routes).map(([name, route]) => routeText(name, route)),
  '### `GET /api/audit/export`',
  '`exportAudit`. All audit records of the tenant in the query parameter `tenant`, oldest first, one JSON object per line. Needs the scope `audit:export`.',
  '### `GET /api/events`',
  '`events`. Server-sent events: `tickets`, and with `?live=1` also `requests` and `second`. Takes the filters of `/api/live`.',
  '## Objects',
  ...Object.entries<Schema>(schemas).map(([name, schema]) =>
    [`### ${name}`, ...(schema.description === undefined ? [] : [schema.description]), fieldTable(schema)].join('\n\n'),
  ),
].join('\n\n')}\n`

const file = join(import.meta.dirname, '../docs/console-api.md')
if (!process.argv.includes('--check')) writeFileSync(file, page)
else if (readFileSync(file, 'utf8') !== page) {
  console.error('docs/console-api.md differs from the routes and schemas: run npm run console-api')
  process.exitCode = 1
}
