/**
 * RFC 6570 URI templates in both directions: values to a URI, and a URI back to the values it was made from.
 *
 * The RFC defines the first only. For the second, most libraries build a regular expression, and those backtrack:
 * `{/id*}` against fifty commas hung the official SDK (CVE-2026-0621). Here a template is either refused when it
 * is parsed, because two sets of values could have made the same URI, or it is matched in one pass from left to right.
 * In `{tenant}-{id}` the URI `a-b-c` belongs to tenant `a` and to tenant `a-b`, so somebody would get the other's data.
 *
 * Servers make file paths out of what they match, so a value that would climb out of its place is no match at all:
 * - `{id}`, `{/id}`, `{.id}` and `{;id}` stand for one name. They hold no `/`, `\` or NUL, also not as `%2F`, and are
 *   neither `.` nor `..`, nor those with the further dots and blanks that Windows drops.
 * - `{+path}`, `{#path}`, `{?path}` and `{&path}` may hold `/`, but no NUL and no `..` between separators. `{+path}`
 *   moreover has no `\`, and no leading `/` where the template has just written one: joined to a root,
 *   `//etc/passwd` must not become an absolute path.
 * - `{id}`, `{+path}`, `{/id}`, `{.id}` and `{#id}` are never empty; `{?q}`, `{&q}` and `{;q}` may be.
 *
 * A variable with `*` always gives a list and any other a string, whatever the URI holds.
 */

/** A list for several values, an object for pairs. `undefined` and empty ones leave no trace in the URI. */
export type TemplateValue = string | readonly string[] | { readonly [key: string]: string }
export type TemplateValues = { readonly [name: string]: TemplateValue | undefined }

export interface UriTemplate {
  readonly text: string
  /** The variables, in order. */
  readonly names: readonly string[]
  /**
   * The values that make this URI, percent-decoded, or `undefined`. Never throws; time grows with the URI's length only.
   * Expressions with an operator may be missing as a whole, so their variables may be, too.
   */
  match(uri: string): Readonly<Record<string, string | readonly string[]>> | undefined
  /** Throws only for a list or an object where the template says `{name:3}`. */
  expand(values: TemplateValues): string
}

const maxLength = 2_048
const maxVariables = 32

interface Operator {
  /** What the expansion starts with, and what stands between the values. */
  readonly first: string
  readonly separator: string
  /** `name=value`, and what follows the name of an empty value. */
  readonly named: boolean
  readonly empty: string
  /** Whether values keep reserved characters as they are. */
  readonly open: boolean
  /** Matching: reserved characters that are part of the expansion, and those that always end it. */
  readonly own: string
  readonly ends: string
}

const reserved = ":/?#[]@!$&'()*+,;="
const operators: ReadonlyMap<string, Operator> = new Map([
  ['', { first: '', separator: ',', named: false, empty: '', open: false, own: ',', ends: '/?#' }],
  // A query must not be smuggled in through a path: for matching, `?` and `#` in the value have to be encoded.
  ['+', { first: '', separator: ',', named: false, empty: '', open: true, own: ":/[]@!$&'()*+,;=", ends: '?#' }],
  ['#', { first: '#', separator: ',', named: false, empty: '', open: true, own: reserved, ends: '' }],
  ['.', { first: '.', separator: '.', named: false, empty: '', open: false, own: '', ends: '/?#' }],
  ['/', { first: '/', separator: '/', named: false, empty: '', open: false, own: '/', ends: '?#' }],
  [';', { first: ';', separator: ';', named: true, empty: '', open: false, own: ';=', ends: '/?#' }],
  ['?', { first: '?', separator: '&', named: true, empty: '=', open: false, own: '?&=', ends: '#' }],
  ['&', { first: '&', separator: '&', named: true, empty: '=', open: false, own: '&=', ends: '#' }],
])

interface Variable {
  readonly name: string
  readonly explode: boolean
  /** `{name:3}`: no more than so many characters. */
  readonly prefix: number
}
interface Expression {
  readonly text: string
  readonly sign: string
  readonly operator: Operator
  readonly variables: readonly Variable[]
}
type Part = string | Expression

/** Throws a `TypeError` that says what is wrong with the template and what to write instead. */
export function parseTemplate(template: string): UriTemplate {
  const parts = split(template)
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)))
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    refuse(template, `"${twice}" stands in it twice and a URI could give it two values; use two names`)
  const steps = plan(template, parts)
  return {
    text: template,
    names,
    match: (uri) => match(steps, uri),
    expand: (values) => expand(parts, values),
  }
}

/** For any RFC 6570 template, also those that `parseTemplate` refuses because no URI leads back to the values. */
export const expandTemplate = (template: string, values: TemplateValues): string => expand(split(template), values)

function refuse(template: string, problem: string): never {
  throw new TypeError(`URI template "${template.slice(0, 200)}": ${problem}`)
}

// Reading a template

const notInLiterals = /[^!-~\u00a0-\u{10ffff}]|["<>\\^`{|}]|%(?![0-9A-Fa-f]{2})/u
const variableName = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/

function split(template: string): readonly Part[] {
  if (template.length > maxLength) refuse(template, `it is longer than ${maxLength} characters; shorten it`)
  const parts: Part[] = []
  let variables = 0
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf('{', at)
    const literal = template.slice(at, open === -1 ? undefined : open)
    const bad = notInLiterals.exec(literal)?.[0]
    if (bad === '}') refuse(template, 'a "}" closes nothing; remove it or write the "{" that belongs to it')
    if (bad !== undefined) refuse(template, `${JSON.stringify(bad)} may not stand in a URI; write ${encode(bad)}`)
    if (literal !== '') parts.push(encodeOpen(literal))
    if (open === -1) break
    const close = template.indexOf('}', open)
    if (close === -1) refuse(template, 'a "{" is never closed; add the "}"')
    const expression = parseExpression(template, template.slice(open, close + 1))
    parts.push(expression)
    variables += expression.variables.length
    if (variables > maxVariables) refuse(template, `it has more than ${maxVariables} variables; use fewer`)
    at = close + 1
  }
  return parts
}

function parseExpression(template: string, text: string): Expression {
  const sign = /^\{([+#./;?&])/.exec(text)?.[1] ?? ''
  const operator = operators.get(sign)
  const inner = text.slice(1 + sign.length, -1)
  if (!operator || /^[=,!@|]/.test(inner))
    refuse(template, `${text}: the operator "${inner[0]}" has no meaning; remove it`)
  const variables = inner.split(',').map((spec): Variable => {
    const [, name = '', modifier = ''] = /^([^*:]*)(\*|:[1-9]\d{0,3})?$/.exec(spec) ?? []
    if (!variableName.test(name))
      refuse(
        template,
        `${text}: "${spec}" is no variable; use letters, digits, "_" and ".", then "*" or ":3" if needed`,
      )
    return { name, explode: modifier === '*', prefix: modifier.startsWith(':') ? Number(modifier.slice(1)) : Infinity }
  })
  return { text, sign, operator, variables }
}

// Values to a URI

const unreservedOnly = (text: string): string =>
  text.replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

const encode = (text: string): string => unreservedOnly(encodeURIComponent(text.toWellFormed()))

/** Keeps reserved characters and what is percent-encoded already. */
const encodeOpen = (text: string): string =>
  text.toWellFormed().replace(/%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/gu, encodeURIComponent)

const isList = (value: TemplateValue): value is readonly string[] => Array.isArray(value)

function expand(parts: readonly Part[], values: TemplateValues): string {
  return parts.map((part) => (typeof part === 'string' ? part : expandExpression(part, values))).join('')
}

function expandExpression({ text, operator, variables }: Expression, values: TemplateValues): string {
  const { first, separator, named, empty, open } = operator
  const write = open ? encodeOpen : encode
  const pair = (name: string, value: string): string => `${name}${value === '' ? empty : `=${value}`}`
  const written = variables.flatMap(({ name, explode, prefix }): readonly string[] => {
    // Own ones only: `{constructor}` would otherwise find what every object inherits.
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || value === null) return []
    if (typeof value === 'string') {
      const encoded = write(prefix === Infinity ? value : [...value].slice(0, prefix).join(''))
      return [named ? pair(name, encoded) : encoded]
    }
    if (prefix !== Infinity) throw new TypeError(`${text}: "${name}" is cut to a length, so it must be a string`)
    const pairs = isList(value)
      ? undefined
      : Object.entries(value).map(([key, item]) => [write(key), write(item)] as const)
    const items = isList(value) ? value.map(write) : []
    if (items.length === 0 && !pairs?.length) return []
    if (!explode) {
      const joined = (pairs?.flat() ?? items).join(',')
      return [named ? pair(name, joined) : joined]
    }
    if (pairs) return pairs.map(([key, item]) => (named ? pair(key, item) : `${key}=${item}`))
    return named ? items.map((item) => pair(name, item)) : items
  })
  return written.length === 0 ? '' : first + written.join(separator)
}

// A URI to values

/** An expression, where it ends, and the fixed text at that end. */
interface Hole {
  readonly expression: Expression
  readonly stops: string
  readonly suffix: string
  readonly afterSlash: boolean
}

/** Finds for every expression the character at which it ends, or refuses the template. */
function plan(template: string, parts: readonly Part[]): readonly (string | Hole)[] {
  const steps: (string | Hole)[] = []
  let taken = 0
  for (const [at, part] of parts.entries()) {
    if (typeof part === 'string') {
      if (part.length > taken) steps.push(part.slice(taken))
      taken = 0
      continue
    }
    refuseUnreadable(template, part)
    const { stops, suffix } = findEnd(template, part, parts.slice(at + 1))
    const before = parts[at - 1]
    steps.push({ expression: part, stops, suffix, afterSlash: typeof before === 'string' && before.endsWith('/') })
    taken = suffix.length
  }
  return steps
}

/** Expressions whose own text can be taken apart in two ways. */
function refuseUnreadable(template: string, { text, sign, variables }: Expression): void {
  if (variables.length === 1 && !variables[0]?.explode) return
  if (sign === '+' || sign === '#' || sign === '.')
    refuse(template, `${text} cannot be matched: its separator may also be part of a value; use {/…*} or one variable`)
  const mixed = variables.length > 1 && variables.some(({ explode }) => explode)
  if (mixed && (sign === '' || sign === '/'))
    refuse(template, `${text} cannot be matched: where the list begins is unknown; give it an expression of its own`)
}

function findEnd(template: string, expression: Expression, rest: readonly Part[]): { stops: string; suffix: string } {
  const { text, operator, variables } = expression
  const several = variables.length > 1 || variables.some(({ explode }) => explode)
  const own = expression.sign === '' && !several ? '' : operator.own
  const isEnd = (char: string): boolean => reserved.includes(char) && !own.includes(char)
  let stops = operator.ends
  let suffix = ''
  let maybeMissing: string | undefined
  for (const next of rest) {
    if (typeof next !== 'string') {
      const { first } = next.operator
      if (first === '' || !isEnd(first))
        refuse(
          template,
          `${text}${suffix}${next.text} cannot be matched: nothing marks where the first ends, since "${
            suffix || first || 'a letter'
          }" may be part of its value; put "/" or another reserved character between them`,
        )
      stops += first
      maybeMissing = next.text
      continue
    }
    const hard = [...next].findIndex(isEnd)
    if (maybeMissing !== undefined && hard !== 0)
      refuse(
        template,
        `${text} cannot be matched: "${next}" follows ${maybeMissing}, which may be missing; put it before`,
      )
    if (maybeMissing === undefined) suffix = hard === -1 ? next : next.slice(0, hard)
    if (hard === -1) continue
    stops += next[hard]
    break
  }
  return { stops, suffix }
}

type Found = [name: string, value: string | readonly string[]][]

function match(steps: readonly (string | Hole)[], uri: string): ReturnType<UriTemplate['match']> {
  if (!uri.isWellFormed()) return undefined
  // People and models write `ü` and blanks as they are; encoded here, they meet the template's own text as it is kept.
  const text = uri.replace(/[^!-~]+/gu, encodeURIComponent)
  const found: Found = []
  let at = 0
  for (const step of steps) {
    if (typeof step === 'string') {
      if (!text.startsWith(step, at)) return undefined
      at += step.length
      continue
    }
    let end = at
    while (end < text.length && !step.stops.includes(text.charAt(end))) end++
    const body = text.slice(at, end)
    if (!body.endsWith(step.suffix)) return undefined
    if (!readHole(step, body.slice(0, body.length - step.suffix.length), found)) return undefined
    at = end
  }
  return at === text.length ? Object.fromEntries(found) : undefined
}

/** False where the text cannot have come from the expression. */
function readHole(hole: Hole, body: string, found: Found): boolean {
  const { operator, variables } = hole.expression
  if (!body.startsWith(operator.first)) return body === ''
  const inner = body.slice(operator.first.length)
  if (operator.named) return readPairs(hole, inner, found)
  const [only] = variables
  const items = variables.length === 1 && !only?.explode ? [inner] : inner.split(operator.separator)
  const values: string[] = []
  for (const [at, item] of items.entries()) {
    const value = decode(hole, variables[only?.explode ? 0 : at], item)
    // Too many items have no variable; an empty one would make `/users/` name a user.
    if (value === undefined || value === '') return false
    values.push(value)
  }
  if (only?.explode) found.push([only.name, values])
  else if (values.length !== variables.length) return false
  else for (const [at, { name }] of variables.entries()) found.push([name, values[at] ?? ''])
  return true
}

/** In any order, since clients build queries by hand. An unknown name or a second value is no match. */
function readPairs(hole: Hole, inner: string, found: Found): boolean {
  const { operator, variables } = hole.expression
  const lists = new Map<string, string[]>()
  for (const pair of inner.split(operator.separator)) {
    const equals = pair.indexOf('=')
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const variable = variables.find((candidate) => candidate.name === name)
    const value = decode(hole, variable, equals === -1 ? '' : pair.slice(equals + 1))
    if (!variable || value === undefined) return false
    const list = lists.get(name)
    if (!list) lists.set(name, [value])
    else if (variable.explode) list.push(value)
    else return false
  }
  for (const { name, explode } of variables) {
    const list = lists.get(name)
    if (list) found.push([name, explode ? list : (list[0] ?? '')])
  }
  return true
}

function decode(hole: Hole, variable: Variable | undefined, text: string): string | undefined {
  if (!variable) return undefined
  let value: string
  try {
    value = decodeURIComponent(text)
  } catch {
    return undefined
  }
  if (variable.prefix !== Infinity && [...value].length > variable.prefix) return undefined
  return isSafe(hole, value) ? value : undefined
}

function isSafe({ expression: { sign }, afterSlash }: Hole, value: string): boolean {
  if (value.includes('\0')) return false
  const isOpen = sign === '+' || sign === '#' || sign === '?' || sign === '&'
  if (!isOpen) return !/[/\\]/.test(value) && dots(value) === 0
  if (sign === '+' && (value.includes('\\') || (afterSlash && value.startsWith('/')))) return false
  return value.split(/[/\\]/).every((segment) => dots(segment) < 2)
}

/** How many dots, if the name holds nothing but dots and blanks; such a name means another place. */
function dots(name: string): number {
  return /^[. ]*$/.test(name) ? name.replaceAll(' ', '').length : 0
}
