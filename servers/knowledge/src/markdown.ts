/**
 * Parses Markdown into articles. Front matter is YAML between two `---` lines and must be valid: an article with
 * `status: Drafft` must not be published.
 *
 * A file without front matter is plain Markdown and Live. Its first heading is the title, its first paragraph the
 * description, its modification date the date.
 */

import { parse } from 'yaml'
import * as z from 'zod'
import type { FrontMatter } from './article.ts'
import { statuses } from './article.ts'

/** Says what is wrong with one file, for its author. */
export class InvalidArticle extends Error {
  override readonly name = 'InvalidArticle'
}

export interface Source {
  /** Named in every error. */
  readonly file: string
  /** `name` and the date replace what a plain file does not say. */
  readonly name: string
  readonly changed: string
  readonly text: string
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

/** Ignores unknown fields: other programs keep theirs in the same front matter. */
const frontMatter: z.ZodType<FrontMatter> = z.object({
  title: shortString(40),
  longTitle: shortString(120).exactOptional(),
  description: z.string().trim().max(200).default(''),
  tags: stringList.default([]),
  publishedDate: date.exactOptional(),
  lastUpdated: date,
  status: z.enum(statuses).default('Draft'),
  supersededBy: stringList.exactOptional(),
  relatedIds: stringList.exactOptional(),
  references: z.array(reference).exactOptional(),
  difficulty: z.string().exactOptional(),
  category: z.string().exactOptional(),
  tools: stringList.exactOptional(),
  prerequisites: stringList.exactOptional(),
  estimatedMinutes: z.number().positive().exactOptional(),
  agentPrompt: shortString(440).exactOptional(),
})

export function parseMarkdown(source: Source): FrontMatter & { readonly body: string } {
  const { file } = source
  const text = source.text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  if (!/^---[ \t]*\n/.test(text)) return { ...toFrontMatter({ ...source, text }), body: text.trim() }
  const end = /\n---[ \t]*(?:\n|$)/.exec(text)
  if (!end) throw new InvalidArticle(`${file}: front matter: the closing --- line is missing`)
  const parsed = frontMatter.safeParse(readYaml(text.slice(text.indexOf('\n'), end.index + 1), file))
  if (parsed.success) return { ...parsed.data, body: text.slice(end.index + end[0].length).trim() }
  const [issue] = parsed.error.issues
  throw new InvalidArticle(`${file}: ${issue?.path.join('.') || 'front matter'}: ${issue?.message ?? 'not understood'}`)
}

function readYaml(yaml: string, file: string): unknown {
  try {
    const value: unknown = parse(yaml) ?? {}
    // `tags:` without a value means no tags.
    return typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== null))
      : value
  } catch (thrown) {
    const [first = 'not YAML'] = thrown instanceof Error ? thrown.message.split('\n') : []
    throw new InvalidArticle(`${file}: front matter: ${first.replace(/:$/, '')}`)
  }
}

const heading = /^#{1,6}[ \t]+(.+?)[ \t]*#*$/m
/** Matches lines that do not start a paragraph: headings, lists, tables, quotes, code, rules, HTML and images. */
const nonProseStart = /^(?:[#>|<*+-]|\d+[.)] |```|~~~|!\[| {4})/

function toFrontMatter({ text, name, changed }: Source): FrontMatter {
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

const withoutCode = (text: string): string => text.replace(/^(```|~~~)[^\n]*\n[\s\S]*?^\1[ \t]*$/gm, '')

/** Removes Markdown's markup, which means nothing in a list of titles. */
const toPlainText = (markdown: string): string =>
  markdown
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
