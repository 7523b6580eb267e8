/**
 * Reads and prints S-expressions of Swank. Reading never evaluates and never interns: a symbol is its name, and
 * unreadable data (`#<…>`) stays text. Depth is bounded, because a Lisp image is not trusted either.
 */

/** A symbol or keyword, in the case it was sent: `:ok`, `COMMON-LISP:CAR`. */
export class Sym {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** `nil` is the empty list. A dotted pair is `[a, Sym('.'), b]`. */
export type Sexp = string | number | Sym | readonly Sexp[]

export const sym = (name: string): Sym => new Sym(name)
export const isList = (value: Sexp | undefined): value is readonly Sexp[] => Array.isArray(value)
/** Compares symbols without case, as Lisp does by default. */
export const isSym = (value: Sexp | undefined, name: string): boolean =>
  value instanceof Sym && value.name.toLowerCase() === name
export const textOf = (value: Sexp | undefined): string =>
  typeof value === 'string' ? value : value === undefined || (isList(value) && value.length === 0) ? '' : print(value)
export const listOf = (value: Sexp | undefined): readonly Sexp[] => (isList(value) ? value : [])

export function print(value: Sexp): string {
  if (typeof value === 'string') return `"${value.replace(/[\\"]/g, '\\$&')}"`
  if (typeof value === 'number') return String(value)
  if (value instanceof Sym) return value.name
  return value.length === 0 ? 'nil' : `(${value.map(print).join(' ')})`
}

/**
 * Builds a form from Lisp source and values, like a prepared statement in SQL. Each value replaces one symbol after the
 * source was read, so that no text of a caller is ever part of the source.
 */
export function lisp(source: TemplateStringsArray, ...values: readonly Sexp[]): Sexp {
  const fill = (form: Sexp): Sexp => {
    if (isList(form)) return form.map(fill)
    const index = form instanceof Sym ? /^\$(\d+)$/.exec(form.name)?.[1] : undefined
    return index === undefined ? form : (values[Number(index)] ?? [])
  }
  return fill(read(source.reduce((text, part, index) => `${text}$${index - 1}${part}`)))
}

const maxDepth = 1000

export function read(text: string): Sexp {
  let at = 0
  const space = (): void => {
    while (at < text.length && text.charCodeAt(at) <= 32) at++
  }
  function string(): string {
    const start = ++at
    // Jumps from quote to quote, because printed output may have megabytes. A quote after an odd number of backslashes
    // is escaped.
    for (let end = text.indexOf('"', at); end !== -1; end = text.indexOf('"', end + 1)) {
      let slashes = 0
      while (end - 1 - slashes >= start && text[end - 1 - slashes] === '\\') slashes++
      if (slashes % 2 === 1) continue
      const raw = text.slice(start, end)
      at = end + 1
      return raw.includes('\\') ? raw.replace(/\\([\s\S])/g, '$1') : raw
    }
    throw new SyntaxError('unterminated string')
  }
  function list(depth: number): readonly Sexp[] {
    at++
    const items: Sexp[] = []
    for (;;) {
      space()
      if (at >= text.length) throw new SyntaxError('unterminated list')
      if (text[at] === ')') {
        at++
        return items
      }
      items.push(value(depth + 1))
    }
  }
  function atom(): Sexp {
    const start = at
    // `#\(` and `|a b|` are one token each.
    if (text[at] === '#' && text[at + 1] === '\\') at += 3
    while (at < text.length && !/[\s()"]/.test(text[at] ?? '')) {
      if (text[at] === '\\') at++
      else if (text[at] === '|') at = text.indexOf('|', at + 1) === -1 ? text.length : text.indexOf('|', at + 1)
      at++
    }
    const token = text.slice(start, at)
    if (/^[-+]?\d+$/.test(token) || /^[-+]?\d*\.\d+(?:[edf][-+]?\d+)?$/i.test(token))
      return Number(token.replace(/[df]/i, 'e'))
    return /^nil$/i.test(token) ? [] : new Sym(token)
  }
  function value(depth: number): Sexp {
    if (depth > maxDepth) throw new SyntaxError('nested too deeply')
    space()
    const character = text[at]
    if (character === undefined) throw new SyntaxError('nothing to read')
    if (character === '"') return string()
    if (character === '(') return list(depth)
    if (character === ')') throw new SyntaxError('unmatched closing parenthesis')
    if (character === "'") {
      at++
      return [sym('quote'), value(depth + 1)]
    }
    return atom()
  }
  return value(0)
}
