/**
 * `jsonSchema(…)`: plain JSON Schema 2020-12 as a Standard Schema, for tools whose schema is already written down.
 *
 * TypeBox compiles the schema to code where code may be generated. It does not get the author's document, though, but
 * one that was read, checked and linked here first, because left alone it
 * - skips a keyword it cannot read (`properties: { a: 'string' }` lets everything pass), so shapes are checked;
 * - looks every `$ref` up again while checking, so references are resolved once, at build time; none is ever fetched;
 * - needs 2ⁿ steps for n levels of `anyOf` around a recursive `$ref`, so steps are counted and past a limit handed over;
 * - reports problems by trying everything (a 400-byte value took it 6 s, 20,000 equal array items 2 s) and finds
 *   inherited names such as `toString` in every object.
 * So what is wrong, and where, is found by a walk of our own that remembers what it has seen. The same walk decides
 * alone where code generation is refused: workerd, `--disallow-code-generation-from-strings`, a page's CSP.
 *
 * A `pattern` is the author's code and JavaScript can run it for years. Refused are the usual accidents, a repeated
 * group around a repeated thing such as `(\w+\s?)*`; and patterns that are not plainly linear only meet strings of up
 * to 4,096 characters. That is no proof: whoever takes patterns from strangers should not run them at all.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { Check, Compile } from 'typebox/schema'
import { isObject } from './core/json.ts'

export interface JsonSchema<T = unknown> {
  readonly '~standard': JsonSchemaProps<T>
}
export interface JsonSchemaProps<T> extends StandardSchemaV1.Props<T>, StandardJSONSchemaV1.Props<T> {
  /** Never coerces, never throws: the same value back, or what is wrong with it and where. */
  readonly validate: (value: unknown) => StandardSchemaV1.Result<T>
}
export interface JsonSchemaOptions {
  /**
   * `check` (default) holds strings to the formats TypeBox knows (`email`, `uri`, `date-time`, …): an author who writes
   * one means it. `note` is the standard's own default, where `format` says nothing about values.
   */
  readonly format?: 'check' | 'note'
}

const limits = { subschemas: 10_000, linked: 50_000, nesting: 64, pattern: 2_048, matched: 4_096, issues: 20 }
/** Steps for one value: of compiled code before the walk takes over, and of the walk before the value is refused. */
const steps = { compiled: 100_000, walked: 500_000 }

/** Throws a `TypeError` that says where the schema is wrong and how to mend it. */
export function jsonSchema<T = unknown>(schema: object | boolean, options: JsonSchemaOptions = {}): JsonSchema<T> {
  const linked = link(schema, options)
  const check = compile(linked)
  const findIssues = walk(linked)
  // A copy, so that nobody who gets it can make what is listed differ from what is checked.
  const text = JSON.stringify(typeof schema === 'boolean' ? (schema ? {} : { not: {} }) : schema)
  const verbatim = ({ target = 'draft-2020-12' }: Partial<StandardJSONSchemaV1.Options> = {}): Record<string, unknown> => {
    if (target !== 'draft-2020-12') throw new TypeError(`This schema is JSON Schema 2020-12 and is not rewritten as ${target}`)
    return JSON.parse(text)
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
        const issues = check?.(value) === true ? [] : findIssues(value, check !== undefined)
        return issues.length === 0 ? { value: value as T } : { issues }
      },
      jsonSchema: { input: verbatim, output: verbatim },
    },
  }
}
