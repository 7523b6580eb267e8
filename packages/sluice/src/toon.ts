/**
 * Writes the text of a structured result as TOON, which takes fewer tokens than JSON for many uniform rows. It has its
 * own entry point, so that servers without it do not load the encoder.
 */

import { encodeLines } from '@toon-format/toon'
import type { Result } from './core/answer.ts'
import type { Params } from './core/json.ts'
import { isObject } from './core/json.ts'
import type { Format } from './protocol/format.ts'
import { extractFormat, formatArgument } from './protocol/format.ts'

/** The option of `tool({ format: toon })`. */
export const toon: Format = Object.assign(formatResult, { argument: formatArgument, extract: extractFormat })

/** Replaces only the block that repeats `structuredContent` as JSON. Other text is the tool's own. */
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
 * Encodes the JSON text instead of the value, so that both formats omit and rewrite the same values (`undefined`,
 * dates). Indentation makes the size of deeply nested data quadratic, so encoding stops when the text gets too long.
 */
function encodeToon(json: string): string {
  const maxLength = 2 * json.length + 1024
  const lines: string[] = []
  let length = 0
  for (const line of encodeLines(JSON.parse(json))) {
    length += line.length + 1
    if (length > maxLength) throw new RangeError('TOON is longer than JSON')
    lines.push(line)
  }
  return lines.join('\n')
}

function textMembers(json: string, meta: unknown): Params {
  const _meta = isObject(meta) ? meta : {}
  try {
    return { text: encodeToon(json), _meta: { ..._meta, 'dev.sluice/mimeType': 'text/toon' } }
  } catch {
    const note = 'This is JSON, because TOON could not represent it or would not be shorter'
    return { text: json, _meta: { ..._meta, 'dev.sluice/mimeType': 'application/json', 'dev.sluice/note': note } }
  }
}
