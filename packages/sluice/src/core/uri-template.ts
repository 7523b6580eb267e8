/**
 * RFC 6570 URI templates in both directions: values to a URI, and a URI back to the values it was made from.
 *
 * The RFC defines the first direction only. For the second, most libraries build a regular expression that backtracks:
 * `{/id*}` against fifty commas hung the official SDK (CVE-2026-0621). Here a template is matched in one pass from left
 * to right. It is refused when it is parsed if two sets of values could make the same URI. With `{tenant}-{id}` the URI
 * `a-b-c` would belong to tenant `a` and to tenant `a-b`, so one tenant could get the other's data.
 *
 * Servers make file paths from matched values, so a value that would leave its directory does not match:
 * - `{id}`, `{/id}`, `{.id}` and `{;id}` stand for one name. They hold no `/`, `\` or NUL, not even as `%2F`. They are
 *   neither `.` nor `..`, nor these with the further dots and blanks that Windows drops.
 * - `{+path}`, `{#path}`, `{?path}` and `{&path}` may hold `/`, but no NUL and no `..` between separators. `{+path}`
 *   also holds no `\`, and no leading `/` after a `/` of the template. Otherwise `//etc/passwd`, joined to a root,
 *   would become an absolute path.
 * - `{id}`, `{+path}`, `{/id}`, `{.id}` and `{#id}` are never empty; `{?q}`, `{&q}` and `{;q}` may be.
 *
 * A variable with `*` always gives a list and any other a string, whatever the URI holds.
 */

import { expand } from './uri-template-expand.ts'
import { invalidTemplate, parseParts } from './uri-template-grammar.ts'
import { match, plan } from './uri-template-match.ts'

/** A string, a list of values, or an object of pairs. `undefined` and empty values add nothing to the URI. */
export type TemplateValue = string | readonly string[] | { readonly [key: string]: string }
export type TemplateValues = { readonly [name: string]: TemplateValue | undefined }

export interface UriTemplate {
  readonly text: string
  /** The variables, in order. */
  readonly names: readonly string[]
  /**
   * Returns the percent-decoded values that make this URI; `undefined` if it does not match. Never throws. The time
   * grows only with the length of the URI. An expression with an operator may be missing as a whole, and then its
   * variables are missing too.
   */
  match(uri: string): Readonly<Record<string, string | readonly string[]>> | undefined
  /** Expands the template. Throws only for a list or an object in an expression like `{name:3}`. */
  expand(values: TemplateValues): string
}

/** Parses a template. Throws a `TypeError` that says what is wrong and what to write instead. */
export function parseTemplate(template: string): UriTemplate {
  const parts = parseParts(template)
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)))
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    invalidTemplate(template, `"${twice}" occurs twice, and a URI could give it two values; use two names`)
  const steps = plan(template, parts)
  return {
    text: template,
    names,
    match: (uri) => match(steps, uri),
    expand: (values) => expand(parts, values),
  }
}

/** Expands any RFC 6570 template, including those that `parseTemplate` refuses as ambiguous. */
export const expandTemplate = (template: string, values: TemplateValues): string => expand(parseParts(template), values)
