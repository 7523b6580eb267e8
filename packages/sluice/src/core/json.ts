/** JSON as TypeScript types, and the most common check on a parsed value. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** An object of unknown content: parameters, metadata, capabilities. */
export type Params = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the value of a JSON text; `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A JSON-RPC request id. `1` and `"1"` are different ids. */
export type Id = string | number
