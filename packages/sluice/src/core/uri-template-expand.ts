/** Expands a URI template with values. */

import type { TemplateValue, TemplateValues } from './uri-template.ts'
import type { Expression, TemplatePart } from './uri-template-grammar.ts'
import { encode, encodeKeepingReserved } from './uri-template-grammar.ts'

const isList = (value: TemplateValue): value is readonly string[] => Array.isArray(value)

export function expand(parts: readonly TemplatePart[], values: TemplateValues): string {
  return parts.map((part) => (typeof part === 'string' ? part : expandExpression(part, values))).join('')
}

function expandExpression({ text, operator, variables }: Expression, values: TemplateValues): string {
  const { first, separator, named, empty, open } = operator
  const write = open ? encodeKeepingReserved : encode
  const pair = (name: string, value: string): string => `${name}${value === '' ? empty : `=${value}`}`
  const written = variables.flatMap(({ name, explode, prefix }): readonly string[] => {
    // Own properties only. Otherwise `{constructor}` would find what every object inherits.
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined || value === null) return []
    if (typeof value === 'string') {
      const encoded = write(prefix === Infinity ? value : [...value].slice(0, prefix).join(''))
      return [named ? pair(name, encoded) : encoded]
    }
    if (prefix !== Infinity) throw new TypeError(`${text}: "${name}" has a maximum length, so it must be a string`)
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
