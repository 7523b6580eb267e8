/**
 * Expressions that only read, and run without an approval. Three rules make them safe:
 *
 * - The text is parsed here, by a reader that knows lists, strings, numbers, symbols and the quote. The Lisp reader
 *   never sees it.
 * - Only functions of the table below are called. They belong to Common Lisp, call no function of the image, and make
 *   no large value. A function that the image defines is never among them.
 * - A symbol is looked up by name. If a name means another function in the caller's package, nothing runs.
 */

import { fail } from 'sluice'

export type Expression =
  | { readonly kind: 'number'; readonly token: string }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'symbol'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }

/** The most arguments of a function. Beyond two, many functions of Common Lisp take another function, such as `:test`. */
type Table = { readonly [name: string]: number }

const some = 50
const of = (most: number, names: string): Table => Object.fromEntries(names.split(' ').map((name) => [name, most]))

/** Macros and special operators, which evaluate their arguments and nothing else. */
export const operators: Table = of(some, 'if and or when unless progn')

/**
 * Left out on purpose: functions that call others (mapcar, sort), take type specifiers (typep, coerce), are generic
 * (documentation, slot-value), compare by a test of the image (equalp), update an old instance (type-of), print, or make
 * values as large as one asks for (expt, ash, make-list).
 */
export const functions: Table = {
  ...of(some, '+ - * / = /= < > <= >= min max gcd lcm logand logior logxor list values'),
  ...of(1, '1+ 1- abs signum zerop plusp minusp evenp oddp numerator denominator integer-length sqrt isqrt'),
  ...of(2, 'mod rem floor ceiling round truncate cons nth nthcdr eq eql equal'),
  ...of(1, 'car cdr caar cadr cdar cddr caddr cdddr cadddr first second third fourth fifth rest last list-length'),
  ...of(2, 'member assoc rassoc getf'),
  ...of(1, 'null not atom consp listp symbolp keywordp numberp integerp rationalp floatp realp stringp characterp'),
  ...of(1, 'vectorp arrayp functionp hash-table-p packagep identity'),
  ...of(2, 'length elt aref svref char schar array-dimension'),
  ...of(1, 'array-rank array-dimensions array-total-size fill-pointer'),
  ...of(2, 'string= string/= string< string> string-equal char= char< char-equal'),
  ...of(1, 'string-upcase string-downcase char-code code-char char-upcase char-downcase symbol-name'),
  ...of(1, 'boundp fboundp symbol-value symbol-package symbol-plist find-package package-name package-use-list'),
  ...of(3, 'get gethash'),
  ...of(1, 'hash-table-count hash-table-size hash-table-test'),
  ...of(0, 'list-all-packages lisp-implementation-type lisp-implementation-version machine-type software-type'),
  ...of(0, 'get-universal-time get-internal-real-time get-internal-run-time'),
}

/**
 * Reads `LISP_READ_FUNCTIONS`: unset allows all of the table, `none` none, and a list only these. A name outside the
 * table is an error, because no setting may make a function of the image run without an approval.
 */
export function allowedFunctions(setting: string | undefined): ReadonlySet<string> {
  if (setting === undefined || setting.trim() === '') return new Set(Object.keys(functions))
  const names = setting.trim().toLowerCase() === 'none' ? [] : setting.toLowerCase().split(/[\s,]+/)
  const unknown = names.filter((name) => name !== '' && !Object.hasOwn(functions, name))
  if (unknown.length > 0)
    throw new Error(
      `LISP_READ_FUNCTIONS: ${unknown.join(', ')} cannot be called without an approval. Choose from: ${Object.keys(functions).join(' ')}`,
    )
  return new Set(names.filter((name) => name !== ''))
}

const maxNodes = 300
const maxDepth = 40
const needsEval = 'It needs repl_eval and an approval.'

/** Parses one expression. Everything but lists, strings, numbers, symbols and quotes is refused. */
export function parseExpression(text: string): Expression {
  let at = 0
  let nodes = 0
  const skip = (): void => {
    while (/[ \t\r\n]/.test(text[at] ?? '')) at++
  }
  function string(): Expression {
    let value = ''
    for (at++; at < text.length; at++) {
      if (text[at] === '"') {
        at++
        return { kind: 'string', text: value }
      }
      if (text[at] === '\\') at++
      value += text[at] ?? ''
    }
    throw fail('The string does not end.')
  }
  function list(depth: number): Expression {
    const items: Expression[] = []
    for (at++, skip(); text[at] !== ')'; skip()) {
      if (at >= text.length) throw fail('A closing parenthesis is missing.')
      items.push(next(depth + 1))
    }
    at++
    return { kind: 'list', items }
  }
  function atom(): Expression {
    const [token = ''] = /^[^\s()"']+/.exec(text.slice(at)) ?? []
    at += token.length
    if (/^[-+]?\d{1,60}$/.test(token) || /^[-+]?\d{1,15}\.\d{1,15}$/.test(token)) return { kind: 'number', token }
    // No reader macros, no escapes, no dots of a pair.
    if (!/^:?[\w*+\-/<>=!?&%$^~]+(?:::?[\w*+\-/<>=!?&%$^~]+)?$/.test(token))
      throw fail(
        `"${token.slice(0, 40) || text.slice(at, at + 1)}" cannot be read without the Lisp reader. ${needsEval}`,
      )
    return { kind: 'symbol', name: token }
  }
  function next(depth: number): Expression {
    if (++nodes > maxNodes || depth > maxDepth) throw fail(`The expression is too large. ${needsEval}`)
    skip()
    if (text[at] === '(') return list(depth)
    if (text[at] === '"') return string()
    if (text[at] !== "'") return atom()
    at++
    return { kind: 'list', items: [{ kind: 'symbol', name: 'quote' }, next(depth + 1)] }
  }
  const expression = next(0)
  skip()
  if (at < text.length) throw fail('Only one expression can be read at a time.')
  return expression
}

/** Returns the Common Lisp name of an operator, or refuses it. */
export function operatorOf(head: Expression | undefined, count: number, allowed: ReadonlySet<string>): string {
  if (head?.kind !== 'symbol') throw fail(`A list must begin with the name of a function. ${needsEval}`)
  const name = head.name.toLowerCase().replace(/^(?:cl|common-lisp)::?/, '')
  const most = Object.hasOwn(operators, name) ? operators[name] : allowed.has(name) ? functions[name] : undefined
  if (most === undefined) throw fail(`${head.name} is not among the functions that only read. ${needsEval}`)
  if (count > most) throw fail(`${head.name} takes at most ${most} arguments here. ${needsEval}`)
  return name
}
