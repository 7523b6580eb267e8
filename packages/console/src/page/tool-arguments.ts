/** The fields of a form for a tool's arguments, from its input schema, and the arguments from the fields. */

export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json'

export interface ArgumentField {
  readonly name: string
  readonly kind: FieldKind
  readonly isRequired: boolean
  readonly description: string | undefined
  /** The values of a choice, as JSON texts. */
  readonly choices: readonly string[]
}

interface Schema {
  readonly [member: string]: unknown
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns one field per property. `undefined` if the schema has none, so that only JSON can be typed. */
export function fieldsOf(schema: unknown): readonly ArgumentField[] | undefined {
  if (!isSchema(schema) || !isSchema(schema['properties'])) return undefined
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(schema['properties']).map(([name, property]) => ({
    name,
    ...kindOf(isSchema(property) ? property : {}),
    isRequired: required.includes(name),
    description:
      isSchema(property) && typeof property['description'] === 'string' ? property['description'] : undefined,
  }))
}

function kindOf(property: Schema): Pick<ArgumentField, 'kind' | 'choices'> {
  if (Array.isArray(property['enum']))
    return { kind: 'choice', choices: property['enum'].map((value) => JSON.stringify(value)) }
  const type = typeof property['type'] === 'string' ? kinds[property['type']] : undefined
  return { kind: type ?? 'json', choices: type === 'boolean' ? ['true', 'false'] : [] }
}
const kinds: { readonly [type: string]: FieldKind } = {
  string: 'text',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
}

export type FieldTexts = { readonly [name: string]: string }
export interface ReadArguments {
  readonly args: { readonly [name: string]: unknown }
  /** What is wrong, by the name of the field. */
  readonly problems: { readonly [name: string]: string }
}

/** Turns the texts of the fields into arguments. An empty optional field is left out. */
export function readArguments(fields: readonly ArgumentField[], texts: FieldTexts): ReadArguments {
  const args: { [name: string]: unknown } = {}
  const problems: { [name: string]: string } = {}
  for (const field of fields) {
    const text = texts[field.name] ?? ''
    if (text === '') {
      if (!field.isRequired) continue
      // An empty text is a text. A required number or choice cannot be empty.
      if (field.kind !== 'text') problems[field.name] = 'This field is required.'
      else args[field.name] = ''
      continue
    }
    const read = valueOf(field.kind, text)
    if ('problem' in read) problems[field.name] = read.problem
    else args[field.name] = read.value
  }
  return { args, problems }
}

function valueOf(kind: FieldKind, text: string): { readonly value: unknown } | { readonly problem: string } {
  if (kind === 'text') return { value: text }
  if (kind === 'number' || kind === 'integer') {
    const value = Number(text.trim())
    if (text.trim() === '' || !Number.isFinite(value)) return { problem: 'This is not a number.' }
    return kind === 'integer' && !Number.isInteger(value) ? { problem: 'This is not a whole number.' } : { value }
  }
  try {
    return { value: JSON.parse(text) }
  } catch (thrown) {
    return { problem: `This is not JSON: ${thrown instanceof Error ? thrown.message : 'unreadable'}` }
  }
}

/** Reads all arguments as one JSON object. */
export function readJson(text: string): ReadArguments['args'] | string {
  const read = valueOf('json', text)
  if ('problem' in read) return read.problem
  return isSchema(read.value) ? read.value : 'The arguments must be a JSON object: {…}'
}
