/**
 * Matches a URI to the values it was made from, in one pass from left to right, or says why a template cannot be
 * matched.
 */

import type { UriTemplate } from './uri-template.ts'
import type { Expression, TemplatePart, Variable } from './uri-template-grammar.ts'
import { invalidTemplate, reserved } from './uri-template-grammar.ts'

/** An expression, the characters that end it, and the fixed text before that end. */
export interface ExpressionPlan {
  readonly expression: Expression
  readonly stops: string
  readonly suffix: string
  readonly afterSlash: boolean
}

/** Finds the characters that end each expression. Throws if the template is ambiguous. */
export function plan(template: string, parts: readonly TemplatePart[]): readonly (string | ExpressionPlan)[] {
  const steps: (string | ExpressionPlan)[] = []
  let taken = 0
  for (const [at, part] of parts.entries()) {
    if (typeof part === 'string') {
      if (part.length > taken) steps.push(part.slice(taken))
      taken = 0
      continue
    }
    assertReadable(template, part)
    const { stops, suffix } = findEnd(template, part, parts.slice(at + 1))
    const before = parts[at - 1]
    steps.push({ expression: part, stops, suffix, afterSlash: typeof before === 'string' && before.endsWith('/') })
    taken = suffix.length
  }
  return steps
}

/** Refuses expressions whose own text can be split in two ways. */
function assertReadable(template: string, { text, sign, variables }: Expression): void {
  if (variables.length === 1 && !variables[0]?.explode) return
  if (sign === '+' || sign === '#' || sign === '.')
    invalidTemplate(
      template,
      `${text} cannot be matched: its separator may also be part of a value; use {/…*} or one variable`,
    )
  const mixed = variables.length > 1 && variables.some(({ explode }) => explode)
  if (mixed && (sign === '' || sign === '/'))
    invalidTemplate(
      template,
      `${text} cannot be matched: the start of the list is ambiguous; put the list in a separate expression`,
    )
}

function findEnd(
  template: string,
  expression: Expression,
  rest: readonly TemplatePart[],
): { stops: string; suffix: string } {
  const { text, operator, variables } = expression
  const several = variables.length > 1 || variables.some(({ explode }) => explode)
  const consumed = expression.sign === '' && !several ? '' : operator.consumes
  const isEnd = (char: string): boolean => reserved.includes(char) && !consumed.includes(char)
  let stops = operator.ends
  let suffix = ''
  let maybeMissing: string | undefined
  for (const next of rest) {
    if (typeof next !== 'string') {
      const { first } = next.operator
      if (first === '' || !isEnd(first))
        invalidTemplate(
          template,
          `${text}${suffix}${next.text} cannot be matched: the end of the first is ambiguous, because "${
            suffix || first || 'a letter'
          }" may be part of its value. Put "/" or another reserved character between them`,
        )
      stops += first
      maybeMissing = next.text
      continue
    }
    const hard = [...next].findIndex(isEnd)
    if (maybeMissing !== undefined && hard !== 0)
      invalidTemplate(
        template,
        `${text} cannot be matched: "${next}" follows ${maybeMissing}, which may be missing; move it before that expression`,
      )
    if (maybeMissing === undefined) suffix = hard === -1 ? next : next.slice(0, hard)
    if (hard === -1) continue
    stops += next[hard]
    break
  }
  return { stops, suffix }
}

type Found = [name: string, value: string | readonly string[]][]

/**
 * Encodes `ü` and blanks, which people and models write unencoded, so that they match the encoded template. `undefined`
 * if the text holds half of a surrogate pair.
 */
export const toAscii = (uri: string): string | undefined =>
  uri.isWellFormed() ? uri.replace(/[^!-~]+/gu, encodeURIComponent) : undefined

export function match(steps: readonly (string | ExpressionPlan)[], uri: string): ReturnType<UriTemplate['match']> {
  const [head] = steps
  // Compared before anything is encoded. Otherwise every template would encode every other template's URIs as a whole.
  if (typeof head === 'string' && !uri.startsWith(head.replace(/%.*/, ''))) return undefined
  const text = toAscii(uri)
  if (text === undefined) return undefined
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
    if (!readExpression(step, body.slice(0, body.length - step.suffix.length), found)) return undefined
    at = end
  }
  return at === text.length ? Object.fromEntries(found) : undefined
}

/** Returns false if the text cannot have come from the expression. */
function readExpression(step: ExpressionPlan, body: string, found: Found): boolean {
  const { operator, variables } = step.expression
  if (!body.startsWith(operator.first)) return body === ''
  const inner = body.slice(operator.first.length)
  if (operator.named) return readPairs(step, inner, found)
  const [only] = variables
  const items = variables.length === 1 && !only?.explode ? [inner] : inner.split(operator.separator)
  const values: string[] = []
  for (const [at, item] of items.entries()) {
    const value = decode(step, variables[only?.explode ? 0 : at], item)
    // Surplus items have no variable. An empty item would make `/users/` name a user.
    if (value === undefined || value === '') return false
    values.push(value)
  }
  if (only?.explode) found.push([only.name, values])
  else if (values.length !== variables.length) return false
  else for (const [at, { name }] of variables.entries()) found.push([name, values[at] ?? ''])
  return true
}

/**
 * Reads pairs in any order, because clients build queries by hand. An unknown name or a second value does not match.
 */
function readPairs(step: ExpressionPlan, inner: string, found: Found): boolean {
  const { operator, variables } = step.expression
  const lists = new Map<string, string[]>()
  for (const pair of inner.split(operator.separator)) {
    const equals = pair.indexOf('=')
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const variable = variables.find((candidate) => candidate.name === name)
    const value = decode(step, variable, equals === -1 ? '' : pair.slice(equals + 1))
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

function decode(step: ExpressionPlan, variable: Variable | undefined, text: string): string | undefined {
  if (!variable) return undefined
  let value: string
  try {
    value = decodeURIComponent(text)
  } catch {
    return undefined
  }
  if (variable.prefix !== Infinity && [...value].length > variable.prefix) return undefined
  return isSafe(step, value) ? value : undefined
}

function isSafe({ expression: { sign }, afterSlash }: ExpressionPlan, value: string): boolean {
  if (value.includes('\0')) return false
  const isOpen = sign === '+' || sign === '#' || sign === '?' || sign === '&'
  if (!isOpen) return !/[/\\]/.test(value) && dots(value) === 0
  if (sign === '+' && (value.includes('\\') || (afterSlash && value.startsWith('/')))) return false
  return value.split(/[/\\]/).every((segment) => dots(segment) < 2)
}

/** Returns the number of dots if the name holds only dots and blanks, because such a name means another directory. */
function dots(name: string): number {
  return /^[. ]*$/.test(name) ? name.replaceAll(' ', '').length : 0
}
