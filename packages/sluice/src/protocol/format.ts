/**
 * `format: "toon"`: the text of a structured result in TOON instead of JSON, for tools that opt in. `structuredContent`
 * and errors stay as they are.
 *
 * Worth it for many rows with the same fields; nested objects are fine as long as every row has them, since the encoder
 * folds them into the header. Not worth it where rows differ in their fields or hold lists, and for a few values: there
 * compact JSON is as short or shorter. `npm run bench -- tokens` counts. A client that hands `structuredContent` to the
 * model gains nothing either way. https://toonformat.dev
 */

import { encodeLines } from '@toon-format/toon'
import type { Result } from '../core/answer.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'

const argument = 'format'
/** Taken as well, since one of the documents has it; lists do not show it, or models would pass both. */
const alias = 'output_format'

const property: Params = {
  type: 'string',
  enum: ['json', 'toon'],
  default: 'json',
  description: 'How the text of the result is written; toon takes fewer tokens for many uniform rows',
}

/** Where a schema can name further properties of the same object, or forbid them. */
const inPlace = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not', 'dependentSchemas', '$ref', '$dynamicRef']

/** The input schema with our argument in it. Fails where the tool's own would be taken away from it. */
export function withFormat(schema: Params, where: string): Params {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  for (const name of [argument, alias])
    if (Object.hasOwn(properties, name))
      throw new TypeError(`${where}: "${name}" is what format: true adds; rename the tool's own argument`)
  const composed = inPlace.find((keyword) => keyword in schema)
  if (composed !== undefined)
    throw new TypeError(`${where}: format: true needs the properties at the root of the schema, not behind ${composed}`)
  return { ...schema, properties: { ...properties, [argument]: property } }
}

export interface Asked {
  /** What is left for the tool's own schema. */
  readonly args: unknown
  readonly toon: boolean
}

/** In any case; whatever is not TOON means JSON, so that a guess of the model's costs nothing. */
export function takeFormat(raw: unknown): Asked {
  if (!isObject(raw)) return { args: raw, toon: false }
  const { [argument]: asked, [alias]: other, ...args } = raw
  const format = asked ?? other
  return { args, toon: typeof format === 'string' && format.toLowerCase() === 'toon' }
}

/** Only the block that repeats `structuredContent` as JSON: other text is the tool's own. */
export function toToon(result: Result): Result {
  const { structuredContent, content, isError } = result
  if (isError || structuredContent === undefined || !Array.isArray(content)) return result
  const json = JSON.stringify(structuredContent)
  return {
    ...result,
    content: content.map((block: Params) =>
      block['type'] === 'text' && block['text'] === json ? { ...block, ...written(json, block['_meta']) } : block,
    ),
  }
}

/**
 * From the JSON text: what that leaves out or rewrites (`undefined`, dates) must not be in one and not in the other.
 * Indentation makes the size of deeply nested data quadratic (38 KB of JSON became 10 MB), so it is given up on the way.
 */
function inToon(json: string): string {
  const most = 2 * json.length + 1024
  const lines: string[] = []
  let length = 0
  for (const line of encodeLines(JSON.parse(json))) {
    length += line.length + 1
    if (length > most) throw new RangeError('Longer in TOON than in JSON')
    lines.push(line)
  }
  return lines.join('\n')
}

function written(json: string, meta: unknown): Params {
  const _meta = isObject(meta) ? meta : {}
  try {
    return { text: inToon(json), _meta: { ..._meta, 'dev.sluice/mimeType': 'text/toon' } }
  } catch {
    const note = 'This could not be written as TOON, or not shorter, so it is JSON'
    return { text: json, _meta: { ..._meta, 'dev.sluice/mimeType': 'application/json', 'dev.sluice/note': note } }
  }
}
