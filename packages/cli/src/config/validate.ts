/** Validates a configuration. A message names the path and the origin of each wrong value. */

import { didYouMean } from 'sluice/extend'
import type * as z from 'zod'
import { CommandError, exitCodes } from '../output.ts'
import { isInGroup } from './load.ts'
import type { Config } from './schema.ts'
import { configSchema } from './schema.ts'
import type { Tree } from './tree.ts'
import { pathText } from './tree.ts'

export function validate(merged: Tree, origins: ReadonlyMap<string, string>): Config {
  // Zod would compile the schema, which takes longer than one validation.
  const parsed = configSchema.safeParse(merged, { jitless: true })
  if (!parsed.success) throw new CommandError(problemsOf(parsed.error, merged, origins), exitCodes.usage)
  return parsed.data
}

function problemsOf(error: z.ZodError, merged: Tree, origins: ReadonlyMap<string, string>): string {
  const lines = error.issues.map((issue) => {
    const path = fieldText(issue.path)
    if (issue.code !== 'unrecognized_keys')
      return `  ${path || 'the file'}: ${messageOf(issue, merged)}${originSuffix(path, origins)}`
    return issue.keys
      .map((key) => {
        const full = fieldText([...issue.path, key])
        const names = namesAt(issue.path, merged)
        const meant = didYouMean(key, names) || `; use one of ${names.join(', ')}`
        const from = [...origins].find(([each]) => isInGroup(each, full))?.[0] ?? full
        return `  ${full}: unknown setting${meant}${originSuffix(from, origins)}`
      })
      .join('\n')
  })
  return ['Invalid configuration:', ...lines].join('\n')
}

/** Says of a setting that is not there that it is missing. Zod calls it an invalid input. */
function messageOf({ code, path, message }: z.core.$ZodIssue, merged: Tree): string {
  const value = path.reduce<unknown>((inside, step) => (inside as Tree | undefined)?.[String(step)], merged)
  return value === undefined && code !== 'custom' ? 'It is missing' : message
}

/** Returns `servers.files.rules[0].tools`. */
const fieldText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const name = pathText([String(step)])
    return text === '' || name.startsWith('[') ? text + name : `${text}.${name}`
  }, '')

/** Names the origin of a value. The values in a list come from where the list is written. */
const originSuffix = (path: string, origins: ReadonlyMap<string, string>): string => {
  const list = path.replace(/\[\d+\].*$/, '')
  const origin = origins.get(path) ?? origins.get(list)
  return origin === undefined ? '' : ` (${origin})`
}

/** Returns the known names at the position of an unknown key. */
function namesAt(path: readonly PropertyKey[], merged: Tree): readonly string[] {
  let schema: unknown = configSchema
  for (const step of path) {
    const { shape, def } = unwrapSchema(schema) ?? {}
    schema = shape?.[String(step)] ?? def?.valueType ?? def?.element
  }
  return Object.keys(unwrapSchema(schema)?.shape ?? merged)
}

interface ObjectSchema {
  readonly shape?: { readonly [name: string]: unknown }
  /** The schema of the values of a record, and of the elements of a list. */
  readonly def?: { readonly valueType?: unknown; readonly element?: unknown }
}
function unwrapSchema(schema: unknown): ObjectSchema | undefined {
  let current = schema as { def?: { innerType?: unknown } } & ObjectSchema
  while (current?.def?.innerType !== undefined) current = current.def.innerType as typeof current
  return current
}
