/** Parses the text of a URI template into literals and expressions, checked against RFC 6570. */

const maxLength = 2_048
const maxVariables = 32

export interface TemplateOperator {
  /** The start of the expansion, and the separator between the values. */
  readonly first: string
  readonly separator: string
  /** Whether the expansion is `name=value`, and the text after the name of an empty value. */
  readonly named: boolean
  readonly empty: string
  /** Whether values keep reserved characters. */
  readonly open: boolean
  /** For matching: the reserved characters that are part of the expansion, and those that always end it. */
  readonly consumes: string
  readonly ends: string
}

export const reserved = ":/?#[]@!$&'()*+,;="
export const operators: ReadonlyMap<string, TemplateOperator> = new Map([
  ['', { first: '', separator: ',', named: false, empty: '', open: false, consumes: ',', ends: '/?#' }],
  // When matching, `?` and `#` in the value must be encoded, so that a path cannot smuggle in a query.
  ['+', { first: '', separator: ',', named: false, empty: '', open: true, consumes: ":/[]@!$&'()*+,;=", ends: '?#' }],
  ['#', { first: '#', separator: ',', named: false, empty: '', open: true, consumes: reserved, ends: '' }],
  ['.', { first: '.', separator: '.', named: false, empty: '', open: false, consumes: '', ends: '/?#' }],
  ['/', { first: '/', separator: '/', named: false, empty: '', open: false, consumes: '/', ends: '?#' }],
  [';', { first: ';', separator: ';', named: true, empty: '', open: false, consumes: ';=', ends: '/?#' }],
  ['?', { first: '?', separator: '&', named: true, empty: '=', open: false, consumes: '?&=', ends: '#' }],
  ['&', { first: '&', separator: '&', named: true, empty: '=', open: false, consumes: '&=', ends: '#' }],
])

export interface Variable {
  readonly name: string
  readonly explode: boolean
  /** Maximum number of characters, as in `{name:3}`. */
  readonly prefix: number
}
export interface Expression {
  readonly text: string
  readonly sign: string
  readonly operator: TemplateOperator
  readonly variables: readonly Variable[]
}
export type TemplatePart = string | Expression

export function invalidTemplate(template: string, problem: string): never {
  throw new TypeError(`URI template "${template.slice(0, 200)}": ${problem}`)
}

const notInLiterals = /[^!-~\u00a0-\u{10ffff}]|["<>\\^`{|}]|%(?![0-9A-Fa-f]{2})/u
const variableName = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/

export function parseParts(template: string): readonly TemplatePart[] {
  if (template.length > maxLength) invalidTemplate(template, `it is longer than ${maxLength} characters; shorten it`)
  const parts: TemplatePart[] = []
  let variables = 0
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf('{', at)
    const literal = template.slice(at, open === -1 ? undefined : open)
    const bad = notInLiterals.exec(literal)?.[0]
    if (bad === '}') invalidTemplate(template, 'a "}" has no matching "{"; remove the "}" or add the "{"')
    if (bad !== undefined)
      invalidTemplate(template, `${JSON.stringify(bad)} is not allowed in a URI; write ${encode(bad)}`)
    if (literal !== '') parts.push(encodeKeepingReserved(literal))
    if (open === -1) break
    const close = template.indexOf('}', open)
    if (close === -1) invalidTemplate(template, 'a "{" has no matching "}"; add the "}"')
    const expression = parseExpression(template, template.slice(open, close + 1))
    parts.push(expression)
    variables += expression.variables.length
    if (variables > maxVariables) invalidTemplate(template, `it has more than ${maxVariables} variables; use fewer`)
    at = close + 1
  }
  return parts
}

function parseExpression(template: string, text: string): Expression {
  const sign = /^\{([+#./;?&])/.exec(text)?.[1] ?? ''
  const operator = operators.get(sign)
  const inner = text.slice(1 + sign.length, -1)
  if (!operator || /^[=,!@|]/.test(inner))
    invalidTemplate(template, `${text}: the operator "${inner[0]}" is not supported; remove it`)
  const variables = inner.split(',').map((spec): Variable => {
    const [, name = '', modifier = ''] = /^([^*:]*)(\*|:[1-9]\d{0,3})?$/.exec(spec) ?? []
    if (!variableName.test(name))
      invalidTemplate(
        template,
        `${text}: "${spec}" is not a variable; use letters, digits, "_" and ".", then "*" or ":3" if needed`,
      )
    return { name, explode: modifier === '*', prefix: modifier.startsWith(':') ? Number(modifier.slice(1)) : Infinity }
  })
  return { text, sign, operator, variables }
}

const unreservedOnly = (text: string): string =>
  text.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

export const encode = (text: string): string => unreservedOnly(encodeURIComponent(text.toWellFormed()))

/** Encodes text but keeps reserved characters and percent-encoded sequences. */
export const encodeKeepingReserved = (text: string): string =>
  text.toWellFormed().replace(/%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/gu, encodeURIComponent)
