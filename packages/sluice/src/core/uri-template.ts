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

import { expand } from './uri-template-expand.ts'
import { invalidTemplate, parseParts } from './uri-template-grammar.ts'
import { match, plan } from './uri-template-match.ts'

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

/** Throws a `TypeError` that says what is wrong with the template and what to write instead. */
export function parseTemplate(template: string): UriTemplate {
  const parts = parseParts(template)
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)))
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    invalidTemplate(template, `"${twice}" stands in it twice and a URI could give it two values; use two names`)
  const steps = plan(template, parts)
  return {
    text: template,
    names,
    match: (uri) => match(steps, uri),
    expand: (values) => expand(parts, values),
  }
}

/** For any RFC 6570 template, also those that `parseTemplate` refuses because no URI leads back to the values. */
export const expandTemplate = (template: string, values: TemplateValues): string => expand(parseParts(template), values)
