/**
 * Arguments that the operator sets for a tool of an upstream. Fixed ones are removed from the schema that models see, and
 * defaults become optional in it. A name or value that the schema does not allow is refused, because a mistyped name
 * would leave the real argument open.
 */

import { didYouMean } from '../core/did-you-mean.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import type { PresetArguments } from '../core/target.ts'
import { jsonSchema } from '../json-schema/index.ts'
import { invalidArguments } from '../protocol/encode.ts'
import type { RuleArguments, ToolSettings } from './rules.ts'

export interface PresetTool {
  /** The schema that callers see. */
  readonly schema: Params
  /** `undefined` if no rule sets an argument. */
  readonly preset?: PresetArguments
}

/** Returns the schema and the preset arguments of a tool. `name` is the one that callers see, for refusals. */
export function presetArguments(
  name: string,
  schema: Params,
  settings: Pick<ToolSettings, 'fixed' | 'defaults'>,
): PresetTool {
  const [fixed, defaults] = [applicable(schema, settings.fixed), applicable(schema, settings.defaults)]
  const [problem] = [...argumentProblems(schema, fixed), ...argumentProblems(schema, defaults)]
  if (problem) throw new TypeError(`the argument "${problem.argument}" of a rule: ${problem.message}`)
  const own = Object.fromEntries(Object.entries(defaults).filter(([argument]) => !Object.hasOwn(fixed, argument)))
  if (Object.keys(fixed).length + Object.keys(own).length === 0) return { schema }
  return {
    schema: visibleSchema(schema, new Set(Object.keys(fixed)), own),
    preset: {
      values: { fixed, defaults: own },
      addTo(args) {
        const sent = isObject(args) ? args : {}
        // Also if the value is the same: otherwise a caller could guess it.
        const issues = Object.keys(fixed)
          .filter((argument) => Object.hasOwn(sent, argument))
          .map((param) => ({ code: 'unknown_param', param, message: 'Unknown parameter' }))
        if (issues.length > 0) throw invalidArguments(name, issues)
        return { ...own, ...sent, ...fixed }
      },
    },
  }
}

/** Returns the arguments that apply to a tool. A rule for several tools sets an argument where it exists. */
function applicable(schema: Params, rule: RuleArguments | undefined): Params {
  if (!rule?.isForSeveral) return rule?.values ?? {}
  const known = propertiesOf(schema)
  return Object.fromEntries(Object.entries(rule.values).filter(([argument]) => Object.hasOwn(known, argument)))
}

/** A preset argument that the tool cannot take. */
export interface ArgumentProblem {
  readonly argument: string
  readonly message: string
}

/** Returns what is wrong with preset arguments, by the schema of the tool. */
export function argumentProblems(schema: Params, values: Params): readonly ArgumentProblem[] {
  const known = propertiesOf(schema)
  const names = Object.keys(known)
  const isOpen = names.length === 0 && schema['additionalProperties'] !== false && schema['$ref'] === undefined
  return Object.entries(values).flatMap(([argument, value]) => {
    if (!Object.hasOwn(known, argument))
      return isOpen ? [] : [{ argument, message: `the tool has no such argument${didYouMean(argument, names)}` }]
    const issue = valueIssue(schema, known[argument], value)
    return issue === undefined ? [] : [{ argument, message: `the tool does not accept the value: ${issue}` }]
  })
}

/** Returns why a value does not fit. A schema that cannot be compiled is not checked; the upstream checks its arguments. */
function valueIssue(root: Params, property: unknown, value: unknown): string | undefined {
  const { $schema, $defs, definitions } = root
  try {
    const schema = omitUndefined({ $schema, $defs, definitions, properties: { value: property } })
    const { validate } = jsonSchema(schema)['~standard']
    return validate({ value }).issues?.[0]?.message
  } catch {
    return undefined
  }
}

const listKeywords = ['allOf', 'anyOf', 'oneOf'] as const
const branchKeywords = ['if', 'then', 'else'] as const
const dependencyKeywords = ['dependentRequired', 'dependentSchemas', 'dependencies'] as const

/** Returns the properties of the root, and of the schemas that apply to the same object. */
function propertiesOf(schema: Params): Params {
  const applied = [
    ...listKeywords.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
    ...branchKeywords.map((keyword) => schema[keyword]),
  ].filter(isObject)
  const own = isObject(schema['properties']) ? schema['properties'] : {}
  return Object.assign({}, ...applied.map(propertiesOf), own) as Params
}

/** Returns the schema without the fixed arguments, and with defaults that need not be sent. */
function visibleSchema(schema: Params, fixed: ReadonlySet<string>, defaults: Params): Params {
  const inner = (value: unknown): unknown => (isObject(value) ? visibleSchema(value, fixed, defaults) : value)
  const isSent = (name: unknown): boolean =>
    typeof name !== 'string' || (!fixed.has(name) && !Object.hasOwn(defaults, name))
  const changed: { [keyword: string]: unknown } = { ...schema }
  const { properties, required } = schema
  if (isObject(properties))
    changed['properties'] = Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => !fixed.has(name))
        .map(([name, property]) =>
          Object.hasOwn(defaults, name) && isObject(property)
            ? [name, { ...property, default: defaults[name] }]
            : [name, property],
        ),
    )
  if (Array.isArray(required)) {
    const left = required.filter(isSent)
    if (left.length > 0) changed['required'] = left
    else delete changed['required']
  }
  for (const keyword of listKeywords) if (Array.isArray(schema[keyword])) changed[keyword] = schema[keyword].map(inner)
  for (const keyword of branchKeywords) if (keyword in schema) changed[keyword] = inner(schema[keyword])
  for (const keyword of dependencyKeywords) {
    const dependencies = schema[keyword]
    if (!isObject(dependencies)) continue
    changed[keyword] = Object.fromEntries(
      Object.entries(dependencies)
        .filter(([name]) => !fixed.has(name))
        .map(([name, needs]) => [name, Array.isArray(needs) ? needs.filter(isSent) : inner(needs)]),
    )
  }
  return changed
}
