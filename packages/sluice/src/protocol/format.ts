/**
 * `format: "toon"` writes the text of a structured result as TOON instead of JSON, for tools that opt in. Errors do not
 * change. `structuredContent` stays if the tool has an output schema, which promises it. Otherwise it is left out:
 * some clients give the model only that, and it would cost what TOON saves.
 *
 * TOON pays for many rows with the same fields. Nested objects are fine if every row has them, because the encoder
 * folds them into the header. For a few values, rows with different fields and rows with lists, compact JSON is as
 * short or shorter. `npm run bench -- tokens` counts the tokens. https://toonformat.dev
 */

import type { Result } from '../core/answer.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ReservedArguments } from '../core/reserved-arguments.ts'
import { reservedArguments } from '../core/reserved-arguments.ts'

const argument = 'format'
/** Also accepted, because existing clients use it. Lists do not show it, otherwise models would pass both. */
const alias = 'output_format'

const property: Params = {
  type: 'string',
  enum: ['json', 'toon'],
  default: 'json',
  description: 'Format of the result text; toon takes fewer tokens for many uniform rows',
}

/**
 * Writes the text of a structured result in another format: `toon` from `sluice/toon`. It is passed in as a value, so
 * that only servers that use it load it.
 */
export interface Format {
  (result: Result, hasOutputSchema?: boolean): Result
  readonly argument: ReservedArguments
  extract(raw: unknown): RequestedFormat
}

export const formatArgument: ReservedArguments = reservedArguments('format', { [argument]: property }, [alias])

export interface RequestedFormat {
  /** The remaining arguments, for the tool's own schema. */
  readonly args: unknown
  readonly toon: boolean
}

/** Reads the format, in any case. Any value but TOON means JSON, so that a wrong guess of the model has no cost. */
export function extractFormat(raw: unknown): RequestedFormat {
  if (!isObject(raw)) return { args: raw, toon: false }
  const format = raw[argument] ?? raw[alias]
  return { args: formatArgument.without(raw), toon: typeof format === 'string' && format.toLowerCase() === 'toon' }
}
