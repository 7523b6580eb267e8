/**
 * Turns Markdown into articles, by one of two sets of rules for a whole folder.
 *
 * `strict` applies as soon as one file has `status`. Front matter must then be valid, and a file without `status` is a
 * draft: an article with `status: Drafft` must not be published. `common` takes the front matter that people already
 * have, and hides only `draft: true`.
 *
 * A file without front matter is plain Markdown and Live. Its first heading is the title, its first paragraph the
 * description, its modification date the date.
 */

import * as z from 'zod'
import type { FrontMatter } from './article.ts'
import { statuses } from './article.ts'
import { readCommonFields, readDraft } from './common-fields.ts'
import { type Fields, InvalidArticle, type SplitMarkdown } from './front-matter.ts'

export type Rules = 'strict' | 'common'

export interface Source {
  /** Named in every error. */
  readonly file: string
  /** `name` and the date replace what a plain file does not say. */
  readonly name: string
  readonly changed: string
}

const date = z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'write a date such as 2026-11-16' })
const shortString = (maxLength: number): z.ZodString => z.string().trim().min(1).max(maxLength)
const stringList = z.array(z.string().trim().min(1))
/** YAML reads `2024` and `9780131103627` as numbers. */
const stringOrNumber = z.union([z.string(), z.number().transform(String)])

const reference = z
  .object({
    type: z.enum(['website', 'paper', 'book', 'podcast', 'video', 'repository', 'standard']),
    title: z.string().min(1),
    url: z.url().exactOptional(),
    author: z.string().exactOptional(),
    authors: stringList.exactOptional(),
    publisher: z.string().exactOptional(),
    published: stringOrNumber.exactOptional(),
    accessed: date.exactOptional(),
    isbn: stringOrNumber.exactOptional(),
    doi: z.string().exactOptional(),
    annotation: z.string().exactOptional(),
  })
  .refine(({ type, accessed }) => type !== 'website' || accessed !== undefined, {
    path: ['accessed'],
    error: 'a website needs the day it was read, such as 2026-11-16',
  })

const furtherFields = {
  longTitle: shortString(120).exactOptional(),
  publishedDate: date.exactOptional(),
  supersededBy: stringList.exactOptional(),
  relatedIds: stringList.exactOptional(),
  references: z.array(reference).exactOptional(),
  difficulty: z.string().exactOptional(),
  category: z.string().exactOptional(),
  tools: stringList.exactOptional(),
  prerequisites: stringList.exactOptional(),
  estimatedMinutes: z.number().positive().exactOptional(),
  agentPrompt: shortString(440).exactOptional(),
}

/** Ignores unknown fields: other programs keep theirs in the same front matter. */
const frontMatter: z.ZodType<FrontMatter> = z.object({
  ...furtherFields,
  title: shortString(40),
  description: z.string().trim().max(200).default(''),
  tags: stringList.default([]),
  aliases: stringList.exactOptional(),
  lastUpdated: date,
  status: z.enum(statuses).default('Draft'),
})

export const usesStatus = ({ fields }: SplitMarkdown): boolean => fields !== undefined && 'status' in fields

/** Throws `InvalidArticle`. */
export function toContent(source: Source, { fields, body }: SplitMarkdown, rules: Rules): Content {
  if (!fields) return { ...fromText(source, body), body }
  return { ...(rules === 'strict' ? readStrict(fields, source.file) : readCommon(source, fields, body)), body }
}

export type Content = FrontMatter & { readonly body: string }

/** Says why an article is hidden, for its author. */
export const hiddenReason = ({ fields = {} }: SplitMarkdown, { status }: FrontMatter): string =>
  'status' in fields && status === fields['status']
    ? `status: ${status}`
    : 'draft' in fields
      ? 'draft: true'
      : 'it has no status, but other files have one'

function readStrict(fields: Fields, file: string): FrontMatter {
  const parsed = frontMatter.safeParse(fields)
  if (parsed.success) return readDraft(fields, file) ? { ...parsed.data, status: 'Draft' } : parsed.data
  const [issue] = parsed.error.issues
  throw new InvalidArticle(`${file}: ${issue?.path.join('.') || 'front matter'}: ${issue?.message ?? 'not understood'}`)
}

function readCommon(source: Source, fields: Fields, body: string): FrontMatter {
  const plain = fromText(source, body)
  const { title, description, tags, aliases, date, isDraft } = readCommonFields(fields, source.file)
  return {
    ...documentedFields(fields),
    title: title === undefined ? plain.title : truncate(title, 120),
    description: description === undefined ? plain.description : truncate(toPlainText(description), 200),
    tags,
    ...(aliases.length > 0 && { aliases }),
    lastUpdated: date ?? plain.lastUpdated,
    status: isDraft ? 'Draft' : 'Live',
  }
}

/** Returns the further fields of the strict rules that are valid. Other programs use some of these names in other ways. */
const documentedFields = (fields: Fields): Partial<FrontMatter> =>
  Object.fromEntries(
    Object.entries(furtherFields).flatMap(([name, schema]) => {
      const parsed = fields[name] === undefined ? undefined : schema.safeParse(fields[name])
      return parsed?.success ? [[name, parsed.data]] : []
    }),
  )

const heading = /^#{1,6}[ \t]+(.+?)[ \t]*#*$/m
/**
 * Matches lines that do not start a paragraph: headings, lists, tables, quotes, code, rules, HTML, images, and the
 * imports of MDX.
 */
const nonProseStart = /^(?:[#>|<*+-]|(?:import|export) .*(?:from|=) |\d+[.)] |```|~~~|!\[| {4})/

function fromText({ name, changed }: Source, text: string): FrontMatter {
  const title = heading.exec(withoutCode(text))?.[1] ?? name
  const prose = withoutCode(text)
    .split(/\n\s*\n/)
    .map((block) => block.trim().replace(/^#{1,6} .*\n/, ''))
    .find((block) => block !== '' && (!nonProseStart.test(block) || block.startsWith('**')))
  return {
    title: truncate(toPlainText(title), 120),
    description: truncate(toPlainText(prose ?? ''), 200),
    tags: [],
    lastUpdated: changed,
    status: 'Live',
  }
}

/** A block that is not closed ends with the text. Otherwise each of many would be searched for its end in vain. */
const withoutCode = (text: string): string => text.replace(/^(```|~~~)[^\n]*\n[\s\S]*?(?:^\1[ \t]*$|(?![\s\S]))/gm, '')

/** More than a title or a description shows. A paragraph of a megabyte of brackets would take hours. */
const maxMarkup = 2000

/** Removes Markdown's markup, which means nothing in a list of titles. */
const toPlainText = (markdown: string): string =>
  markdown
    .slice(0, maxMarkup)
    .replace(/!?\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]/g, '$1')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|__|`/g, '')
    .replace(/\s+/g, ' ')
    .trim()

/** Cuts after a sentence if possible, otherwise between two words. */
function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const short = text.slice(0, maxLength)
  const sentence = short.lastIndexOf('. ')
  if (sentence > maxLength / 3) return short.slice(0, sentence + 1)
  return `${short.slice(0, Math.max(short.lastIndexOf(' ', maxLength - 2), maxLength / 2))}…`
}
