/**
 * `jsonSchema(…)` turns plain JSON Schema (2020-12 or draft-07) into a Standard Schema, for tools that already have a
 * schema.
 *
 * The document is parsed (`parse.ts`) and normalized to one draft (`dialects.ts`). Its references are resolved
 * (`resolve-refs.ts`), and closures validate values (`validate.ts`). design.md §9 says why the engine is ours.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Dialect } from './dialects.ts'
import { rejectSchema } from './keywords.ts'
import { withObjectProperties } from './listed.ts'
import { parse } from './parse.ts'
import { resolveRefs } from './resolve-refs.ts'
import { toValidator } from './validate.ts'

/** A plain JSON Schema as a Standard Schema, for the `input` of `tool` and `prompt`. */
export interface JsonSchema<T = unknown> {
  readonly '~standard': JsonSchemaProps<T>
}
/** The members that the Standard Schema interface requires. */
export interface JsonSchemaProps<T> extends StandardSchemaV1.Props<T>, StandardJSONSchemaV1.Props<T> {
  /** Never coerces. Returns the same value, or its issues with their paths. */
  readonly validate: (value: unknown) => StandardSchemaV1.Result<T>
}
/** How strictly the schema is applied. */
export interface JsonSchemaOptions {
  /**
   * `check` (default) checks strings against the known formats (`email`, `uri`, `date-time`, …), because an author who
   * writes one means it. `note` is the standard's own default, where `format` does not affect values.
   */
  readonly format?: 'check' | 'note'
}

/**
 * Makes a Standard Schema of a JSON Schema. `$schema` chooses the draft; without it the schema is read as 2020-12.
 *
 * A mistake in the schema is thrown at first use, as a `TypeError` that says where it is and how to fix it. `tool` does
 * so at once, and adds the name of the tool.
 */
export function jsonSchema<T = unknown>(schema: object | boolean, options: JsonSchemaOptions = {}): JsonSchema<T> {
  const prepared = prepare(schema, options)
  const ready = (): Prepared => {
    if (prepared instanceof Error) throw prepared
    return prepared
  }
  const unchanged = ({ target }: Partial<StandardJSONSchemaV1.Options> = {}): Record<string, unknown> => {
    const { text, dialect } = ready()
    // MCP reads a schema by its own `$schema`, so draft-07 may be listed where 2020-12 is the default.
    if (target === undefined || target === dialect.name || target === 'draft-2020-12')
      return withObjectProperties(JSON.parse(text))
    throw new TypeError(`This JSON Schema is written for ${dialect.name} and cannot be converted to ${target}`)
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
        const issues = ready().findIssues(value)
        return issues ? { issues } : { value: value as T }
      },
      jsonSchema: { input: unchanged, output: unchanged },
    },
  }
}

interface Prepared {
  /** Text, so that no caller can make the listed schema differ from the checked one. */
  readonly text: string
  readonly dialect: Dialect
  readonly findIssues: ReturnType<typeof toValidator>
}

function prepare(schema: object | boolean, { format = 'check' }: JsonSchemaOptions): Prepared | Error {
  try {
    const text = toText(schema)
    const { root, dialect } = parse(JSON.parse(text))
    return { text, dialect, findIssues: toValidator(resolveRefs(root), format) }
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new TypeError(String(thrown))
  }
}

/** Serializes the schema. `true` and `false` become objects, because a list of tools can hold nothing else. */
function toText(schema: object | boolean): string {
  if (typeof schema === 'boolean') return schema ? '{}' : '{"not":{}}'
  try {
    return JSON.stringify(schema) ?? 'null'
  } catch (cause) {
    return rejectSchema('#', `it cannot be written as JSON (${String(cause)}); remove values that JSON does not have`)
  }
}
