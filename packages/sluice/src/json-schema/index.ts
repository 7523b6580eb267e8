/**
 * `jsonSchema(…)`: plain JSON Schema 2020-12 as a Standard Schema, for tools whose schema is already written down.
 *
 * TypeBox is the engine, but it does not get the author's document. That is first checked and linked; then TypeBox makes
 * code of it, and what is wrong with a value is found by a walk of our own. Each file says what would go wrong if TypeBox
 * were left to itself. The walk decides alone where code is refused: workerd, a page's CSP,
 * `--disallow-code-generation-from-strings`.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { compile } from './compile.ts'
import { dialect, refuse } from './keywords.ts'
import { link } from './link.ts'
import { walk } from './walk.ts'

/** A plain JSON Schema as a Standard Schema: what `tool` and `prompt` take as `input`. */
export interface JsonSchema<T = unknown> {
  readonly '~standard': JsonSchemaProps<T>
}
/** What the Standard Schema interface asks for. */
export interface JsonSchemaProps<T> extends StandardSchemaV1.Props<T>, StandardJSONSchemaV1.Props<T> {
  /** Never coerces: the same value back, or what is wrong with it and where. */
  readonly validate: (value: unknown) => StandardSchemaV1.Result<T>
}
/** How strictly the schema is taken. */
export interface JsonSchemaOptions {
  /**
   * `check` (default) holds strings to the formats TypeBox knows (`email`, `uri`, `date-time`, …): an author who writes
   * one means it. `note` is the standard's own default, where `format` says nothing about values.
   */
  readonly format?: 'check' | 'note'
}

/**
 * What is wrong with the schema is thrown by whoever first uses what comes back, as a `TypeError` that says where and how
 * to mend it: `tool` does so at once, and adds which tool it is.
 */
export function jsonSchema<T = unknown>(schema: object | boolean, options: JsonSchemaOptions = {}): JsonSchema<T> {
  const made = prepared(schema, options)
  const ready = (): Prepared => {
    if (made instanceof Error) throw made
    return made
  }
  const verbatim = ({ target = dialect.name }: Partial<StandardJSONSchemaV1.Options> = {}): Record<string, unknown> => {
    if (target === dialect.name) return JSON.parse(ready().text)
    throw new TypeError(`This JSON Schema is written for ${dialect.name} and cannot be given as ${target}`)
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
        const { check, findIssues } = ready()
        const verdict = check(value)
        const issues = verdict === true ? undefined : findIssues(value)
        if (issues) return { issues }
        // The two agree. Should they ever not, the answer is no.
        return verdict === false ? { issues: [{ message: 'does not match the schema' }] } : { value: value as T }
      },
      jsonSchema: { input: verbatim, output: verbatim },
    },
  }
}

interface Prepared {
  /** Text, so that nobody who was given the schema can make what is listed differ from what is checked. */
  readonly text: string
  readonly check: ReturnType<typeof compile>
  readonly findIssues: ReturnType<typeof walk>
}

function prepared(schema: object | boolean, { format }: JsonSchemaOptions): Prepared | Error {
  try {
    const text = toText(schema)
    const linked = link(JSON.parse(text), format)
    return { text, check: compile(linked), findIssues: walk(linked) }
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new TypeError(String(thrown))
  }
}

/** `true` and `false` become objects: a list of tools can hold nothing else. */
function toText(schema: object | boolean): string {
  if (typeof schema === 'boolean') return schema ? '{}' : '{"not":{}}'
  try {
    return JSON.stringify(schema) ?? 'null'
  } catch (cause) {
    return refuse('#', `it cannot be written as JSON (${String(cause)}); remove what JSON does not know`)
  }
}
