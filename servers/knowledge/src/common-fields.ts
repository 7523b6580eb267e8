/**
 * Reads the front matter that people already have: Obsidian, Docusaurus, Hugo, Jekyll and others. It is for folders in
 * which no file has `status`. A field that cannot be read is ignored, except `draft`: a misspelt draft must not be
 * published.
 */

import { type Fields, InvalidArticle } from './front-matter.ts'

/** The first field with a date wins: a change says more than the day of publication. */
const dateFields = ['lastUpdated', 'updated', 'lastmod', 'last_update', 'modified', 'date', 'publishedDate', 'pubDate']
const descriptionFields = ['description', 'summary', 'excerpt']
const tagFields = ['tags', 'keywords', 'categories']

export interface CommonFields {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly tags: readonly string[]
  readonly aliases: readonly string[]
  /** A day such as 2026-11-16. */
  readonly date: string | undefined
  readonly isDraft: boolean
}

export const readCommonFields = (fields: Fields, file: string): CommonFields => ({
  title: toText(fields['title']) ?? toText(fields['sidebar_label']),
  description: firstOf(descriptionFields, (name) => toText(fields[name])),
  tags: [...new Set(tagFields.flatMap((name) => toList(fields[name])))],
  aliases: toList(fields['aliases'] ?? fields['alias']),
  date: firstOf(dateFields, (name) => toDay(fields[name])),
  isDraft: readDraft(fields, file),
})

/** Throws `InvalidArticle` if the field is neither true nor false. */
export function readDraft({ draft = false }: Fields, file: string): boolean {
  const value = String(draft).toLowerCase()
  if (value !== 'true' && value !== 'false') throw new InvalidArticle(`${file}: draft: write true or false`)
  return value === 'true'
}

function firstOf<T>(names: readonly string[], read: (name: string) => T | undefined): T | undefined {
  for (const name of names) {
    const found = read(name)
    if (found !== undefined) return found
  }
  return undefined
}

const toText = (value: unknown): string | undefined =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? String(value).trim() : undefined

/** Accepts a list, `a, b`, `#a #b` and Docusaurus' `{ label: a }`. */
const toList = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : typeof value === 'string' ? value.split(value.includes(',') ? ',' : /\s+/) : [])
    .map((entry: unknown) => toText(isObject(entry) ? entry['label'] : entry)?.replace(/^#/, '') ?? '')
    .filter((entry) => entry !== '')

/** Accepts `2024-01-31`, `2024-01-31 10:00:00 +0100`, a date of TOML and Docusaurus' `{ date: 2024-01-31 }`. */
function toDay(value: unknown): string | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.toISOString().slice(0, 10)
  if (isObject(value)) return toDay(value['date'])
  const [day] = /^\d{4}-\d{2}-\d{2}(?=$|[T ])/.exec(String(value)) ?? []
  // `Date` reads the 31st of February as the 3rd of March.
  return day !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) ? day : undefined
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null
