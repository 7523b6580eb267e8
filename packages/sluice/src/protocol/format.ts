/**
 * `format: "toon"`: the text of a structured result in TOON instead of JSON, for tools that opt in. `structuredContent`
 * and errors stay as they are.
 *
 * Worth it for many rows with the same fields; nested objects are fine as long as every row has them, since the encoder
 * folds them into the header. Not worth it where rows differ in their fields or hold lists, and for a few values: there
 * compact JSON is as short or shorter. `npm run bench -- tokens` counts. A client that hands `structuredContent` to the
 * model gains nothing either way. https://toonformat.dev
 */

import type { Result } from '../core/answer.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ReservedArguments } from '../core/reserved-arguments.ts'
import { reservedArguments } from '../core/reserved-arguments.ts'

const argument = 'format'
/** Taken as well, since one of the documents has it; lists do not show it, or models would pass both. */
const alias = 'output_format'

const property: Params = {
  type: 'string',
  enum: ['json', 'toon'],
  default: 'json',
  description: 'How the text of the result is written; toon takes fewer tokens for many uniform rows',
}

/** Writes the text of a structured result in another way: `toon` from `sluice/toon`. Handed in, so that only who uses it pays for it. */
export interface Format {
  (result: Result): Result
  readonly argument: ReservedArguments
  extract(raw: unknown): RequestedFormat
}

export const formatArgument: ReservedArguments = reservedArguments('format', { [argument]: property }, [alias])

export interface RequestedFormat {
  /** What is left for the tool's own schema. */
  readonly args: unknown
  readonly toon: boolean
}

/** In any case; whatever is not TOON means JSON, so that a guess of the model's costs nothing. */
export function extractFormat(raw: unknown): RequestedFormat {
  if (!isObject(raw)) return { args: raw, toon: false }
  const format = raw[argument] ?? raw[alias]
  return { args: formatArgument.without(raw), toon: typeof format === 'string' && format.toLowerCase() === 'toon' }
}
