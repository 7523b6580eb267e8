/** Messages for keywords that hold no schema. They quote the schema and never the value, which may be a secret. */

const maxLength = 500

const messages: { readonly [keyword: string]: string } = {
  type: 'must be …',
  const: 'must be …',
  enum: 'must be one of …',
  multipleOf: 'must be a multiple of …',
  minimum: 'must be at least …',
  maximum: 'must be at most …',
  exclusiveMinimum: 'must be more than …',
  exclusiveMaximum: 'must be less than …',
  minLength: 'must have at least … characters',
  maxLength: 'must have at most … characters',
  pattern: 'must match the pattern …',
  format: 'must be in the format …',
  minItems: 'must have at least … items',
  maxItems: 'must have at most … items',
  uniqueItems: 'must not have two equal items',
  minProperties: 'must have at least … properties',
  maxProperties: 'must have at most … properties',
}

export function messageFor(keyword: string, argument: unknown): string {
  const message = (messages[keyword] ?? 'does not match the schema').replace('…', () => show(keyword, argument))
  return message.length > maxLength ? `${message.slice(0, maxLength)} …` : message
}

function show(keyword: string, argument: unknown): string {
  if (keyword === 'pattern') return String(argument)
  if (keyword === 'type') return [argument].flat().map(withArticle).join(' or ')
  const values = keyword === 'enum' && Array.isArray(argument) ? argument : [argument]
  return values.map((value) => JSON.stringify(value)).join(', ')
}

const withArticle = (type: unknown): string =>
  type === 'null' ? 'null' : `${/^[aio]/.test(String(type)) ? 'an' : 'a'} ${type}`
