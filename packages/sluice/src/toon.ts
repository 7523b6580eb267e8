/**
 * The text of a structured result in TOON, which takes fewer tokens than JSON for many uniform rows. Its own entry, so
 * that servers without it do not carry the encoder.
 */

import { encodeLines } from '@toon-format/toon'
import type { Result } from './core/answer.ts'
import type { Params } from './core/json.ts'
import { isObject } from './core/json.ts'
import type { Format } from './protocol/format.ts'
import { extractFormat, formatArgument } from './protocol/format.ts'

/** For `tool({ format: toon })`. */
export const toon: Format = Object.assign(formatResult, { argument: formatArgument, extract: extractFormat })

/** Only the block that repeats `structuredContent` as JSON: other text is the tool's own. */
function formatResult(result: Result): Result {
  const { structuredContent, content, isError } = result
  if (isError || structuredContent === undefined || !Array.isArray(content)) return result
  const json = JSON.stringify(structuredContent)
  return {
    ...result,
    content: content.map((block: Params) =>
      block['type'] === 'text' && block['text'] === json ? { ...block, ...textMembers(json, block['_meta']) } : block,
    ),
  }
}

/**
 * From the JSON text: what that leaves out or rewrites (`undefined`, dates) must not be in one and not in the other.
 * Indentation makes the size of deeply nested data quadratic, so it is given up on the way.
 */
function encodeToon(json: string): string {
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

function textMembers(json: string, meta: unknown): Params {
  const _meta = isObject(meta) ? meta : {}
  try {
    return { text: encodeToon(json), _meta: { ..._meta, 'dev.sluice/mimeType': 'text/toon' } }
  } catch {
    const note = 'This could not be written as TOON, or not shorter, so it is JSON'
    return { text: json, _meta: { ..._meta, 'dev.sluice/mimeType': 'application/json', 'dev.sluice/note': note } }
  }
}
