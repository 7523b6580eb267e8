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
function formatResult(result: Result, hasOutputSchema = false): Result {
  const { structuredContent, content, isError } = result
  if (isError || structuredContent === undefined || !Array.isArray(content)) return result
  const json = JSON.stringify(structuredContent)
  const isCopy = (block: Params): boolean => block['type'] === 'text' && block['text'] === json
  if (!content.some(isCopy)) return result
  const { isToon, ...members } = textMembers(json)
  const blocks = content.map((block: Params) =>
    isCopy(block)
      ? { ...block, ...members, _meta: { ...(isObject(block['_meta']) && block['_meta']), ...members._meta } }
      : block,
  )
  const { structuredContent: _, ...rest } = result
  return isToon && !hasOutputSchema ? { ...rest, content: blocks } : { ...result, content: blocks }
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

function textMembers(json: string): { readonly isToon: boolean; readonly text: string; readonly _meta: Params } {
  try {
    return { isToon: true, text: encodeToon(json), _meta: { 'dev.sluice/mimeType': 'text/toon' } }
  } catch {
    const note = 'This is JSON, because TOON could not represent it or would not be shorter'
    const _meta = { 'dev.sluice/mimeType': 'application/json', 'dev.sluice/note': note }
    return { isToon: false, text: json, _meta }
  }
}
