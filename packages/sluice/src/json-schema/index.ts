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
  /** Never coerces, never throws: the same value back, or what is wrong with it and where. */
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

/** Throws a `TypeError` that says where the schema is wrong and how to mend it. */
export function jsonSchema<T = unknown>(schema: object | boolean, options: JsonSchemaOptions = {}): JsonSchema<T> {
  // Text, so that nobody who was given the schema can make what is listed differ from what is checked.
  const text = toText(schema)
  const linked = link(JSON.parse(text), options.format)
  const check = compile(linked)
  const findIssues = walk(linked)
  const verbatim = ({ target = dialect.name }: Partial<StandardJSONSchemaV1.Options> = {}): Record<string, unknown> => {
    if (target === dialect.name) return JSON.parse(text)
    throw new TypeError(`This JSON Schema is written for ${dialect.name} and cannot be given as ${target}`)
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
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

/** `true` and `false` become objects: a list of tools can hold nothing else. */
function toText(schema: object | boolean): string {
  if (typeof schema === 'boolean') return schema ? '{}' : '{"not":{}}'
  try {
    return JSON.stringify(schema) ?? 'null'
  } catch (cause) {
    return refuse('#', `it cannot be written as JSON (${String(cause)}); remove what JSON does not know`)
  }
}
