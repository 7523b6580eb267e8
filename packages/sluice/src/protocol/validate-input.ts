/**
 * Compares large arguments with the tool's published JSON Schema, before its schema library sees them. Libraries make
 * an issue for every wrong value: a union over a list of a few thousand `{}` takes them seconds and hundreds of
 * megabytes. This check stops at the hundredth mismatch. It knows only the keywords that every library publishes alike.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { isOfType } from './issues.ts'
import type { Schema } from './schema.ts'

/** Smaller arguments go straight to their library, which then cannot make many issues. */
const maxSmallValues = 256
const maxMismatches = 100
/** Nested alternatives multiply. Beyond this number of steps the library decides. */
const maxSteps = 500_000
const maxDepth = 64

type ValidationResult = StandardSchemaV1.Result<unknown>

const mismatchMessage = 'Does not fit the schema of this tool'

/**
 * Returns the library's own result, unless large arguments break the published schema or the library's schema in many
 * places.
 */
export function validateInput(
  input: Schema,
  published: Params,
  args: unknown,
): ValidationResult | Promise<ValidationResult> {
  const { vendor, validate } = input['~standard']
  // Sluice's own engine stops by itself.
  if (vendor === 'sluice' || !isLarge(args)) return validate(args)
  const issues = findMismatches(published, args)
  if (issues.length === maxMismatches) return { issues }
  return validateStoppingEarly(input, args) ?? { issues: issues.length > 0 ? issues : [{ message: mismatchMessage }] }
}

/** Validates with each library's way to stop early. `undefined` for a refusal without a message. */
function validateStoppingEarly(input: Schema, args: unknown): ValidationResult | Promise<ValidationResult> | undefined {
  const { vendor, validate } = input['~standard']
  if (vendor === 'arktype' && 'allows' in input && typeof input.allows === 'function')
    return input.allows(args) ? validate(args) : undefined
  if (vendor === 'valibot') return valibotOf(input)?.['~run']({ value: args }, { abortEarly: true }) ?? validate(args)
  if (vendor !== 'zod' || !('safeParse' in input) || typeof input.safeParse !== 'function') return validate(args)
  let remaining = maxMismatches
  // Zod asks for the message of every issue, so they can be counted here.
  const error = (): undefined => {
    if (--remaining < 0) throw new RangeError(mismatchMessage)
  }
  try {
    const { data, error: failed } = input.safeParse(args, { error })
    return failed ? { issues: failed.issues } : { value: data }
  } catch {
    // Some schemas can only be checked asynchronously, and throw here.
    return remaining < 0 ? undefined : validate(args)
  }
}

interface Valibot extends StandardSchemaV1 {
  readonly async: boolean
  '~run'(dataset: { value: unknown }, config: { abortEarly: true }): ValidationResult
}

/**
 * Returns the schema behind `toStandardJsonSchema`, which hides it. The conversion first converts the definitions, and
 * then looks the schema up in a map that a hook of the definition can reach. `undefined` if the schema is asynchronous,
 * or is not the one that `validate` belongs to.
 */
function valibotOf(input: Schema): Valibot | undefined {
  // Always present, because otherwise the tool could not have been defined.
  const { validate, jsonSchema } = input['~standard'] as StandardSchemaV1.Props & StandardJSONSchemaV1.Props
  let found: Valibot | undefined
  const overrideSchema = ({ referenceMap }: { referenceMap: { get?: (schema: Valibot) => void } }): void => {
    if (!found)
      referenceMap.get = (schema) => {
        found = schema
        delete referenceMap.get
      }
  }
  const libraryOptions = { definitions: { any: { type: 'any' } }, overrideSchema }
  try {
    jsonSchema.input({ target: 'draft-2020-12', libraryOptions })
  } catch {
    // Another version of the conversion may refuse the definition. Then the library validates as it does by itself.
  }
  return found?.async || found?.['~standard'].validate !== validate ? undefined : found
}

function isLarge(root: unknown): boolean {
  let values = 0
  const count = (value: unknown, depth: number): void => {
    if (++values <= maxSmallValues && depth < maxDepth && typeof value === 'object' && value !== null)
      for (const item of Object.values(value)) if (values <= maxSmallValues) count(item, depth + 1)
  }
  count(root, 0)
  return values > maxSmallValues
}

function findMismatches(root: Params, args: unknown): readonly StandardSchemaV1.Issue[] {
  const found: StandardSchemaV1.Issue[] = []
  /**
   * The path of the value that `fits` checks. It is one list for all, because a new one per value would cost more than
   * the rest.
   */
  const path: (string | number)[] = []
  let steps = maxSteps
  try {
    fits(root, args, true)
    return found
  } catch {
    // A `$ref` to itself, or a value whose getters throw. The library decides.
    return []
  }

  /** `report` is off inside alternatives, because one that fits is enough. */
  function fits(schema: unknown, value: unknown, report: boolean): boolean {
    if (!isObject(schema) || --steps < 0 || path.length > maxDepth) return true
    const { $ref, type, enum: known, anyOf, oneOf, minLength } = schema
    if (typeof $ref === 'string' && !fits(resolveRef(root, $ref), value, report)) return false
    if (
      (type !== undefined && !isOfAnyType(value, type)) ||
      (typeof value === 'string' && typeof minLength === 'number' && value.length < minLength) ||
      (Array.isArray(anyOf) && !anyOf.some((choice) => fits(choice, value, false))) ||
      (Array.isArray(oneOf) && !oneOf.some((choice) => fits(choice, value, false))) ||
      (Array.isArray(known) && !known.some((each) => isSame(each, value))) ||
      ('const' in schema && !isSame(schema['const'], value))
    ) {
      if (report && found.length < maxMismatches) found.push({ message: mismatchMessage, path: [...path] })
      return false
    }
    return typeof value !== 'object' || value === null || fitBelow(schema, value, report)
  }
  function fitBelow({ items, properties, required }: Params, value: object, report: boolean): boolean {
    let isFit = true
    if (Array.isArray(value)) {
      for (let at = 0; items !== undefined && at < value.length && canContinue(); at++) step(items, value[at], at)
      return isFit
    }
    for (const name of Array.isArray(required) ? required : [])
      if (!Object.hasOwn(value, name) && canContinue()) step({ type: 'a member' }, undefined, name)
    if (isObject(properties) && isObject(value))
      for (const name in properties)
        if (Object.hasOwn(value, name) && canContinue()) step(properties[name], value[name], name)
    return isFit

    function canContinue(): boolean {
      return report ? found.length < maxMismatches : isFit
    }
    function step(schema: unknown, member: unknown, key: string | number): void {
      path.push(key)
      if (!fits(schema, member, report)) isFit = false
      path.pop()
    }
  }
}

const isOfAnyType = (value: unknown, type: unknown): boolean =>
  Array.isArray(type) ? type.some((each) => isOfType(value, String(each))) : isOfType(value, String(type))

/** Treats all objects as equal, because this check accepts what it cannot decide. */
const isSame = (expected: unknown, value: unknown): boolean => expected === value || typeof expected === 'object'

/** Returns what a `$ref` within the document names; `undefined`, which everything fits, if it names nothing. */
const resolveRef = (root: Params, ref: string): unknown =>
  ref
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (current, step) => (isObject(current) ? current[step.replace(/~1/g, '/').replace(/~0/g, '~')] : undefined),
      root,
    )
