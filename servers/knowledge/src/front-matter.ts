/** Separates the front matter of a Markdown file from its text: YAML between `---` lines, or Hugo's TOML between `+++`. */

import { parse as parseToml } from 'smol-toml'
import { parse as parseYaml } from 'yaml'

/** Says what is wrong with one file, for its author. */
export class InvalidArticle extends Error {
  override readonly name = 'InvalidArticle'
}

export interface Fields {
  readonly [name: string]: unknown
}

export interface SplitMarkdown {
  /** `undefined` for plain Markdown. */
  readonly fields: Fields | undefined
  readonly body: string
}

const formats = [
  {
    fence: '---',
    start: /^---[ \t]*\n/,
    end: /\n---[ \t]*(?:\n|$)/,
    parse: (text: string): unknown => parseYaml(text),
  },
  {
    fence: '+++',
    start: /^\+\+\+[ \t]*\n/,
    end: /\n\+\+\+[ \t]*(?:\n|$)/,
    parse: (text: string): unknown => parseToml(text),
  },
] as const

/** Throws `InvalidArticle` for front matter that cannot be read, because it may say that the file is a draft. */
export function splitFrontMatter(source: string, file: string): SplitMarkdown {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const format = formats.find(({ start }) => start.test(text))
  if (!format) return { fields: undefined, body: text.trim() }
  const end = format.end.exec(text)
  if (!end) throw new InvalidArticle(`${file}: front matter: the closing ${format.fence} line is missing`)
  const fields = readFields(() => format.parse(text.slice(text.indexOf('\n'), end.index + 1)), file)
  return { fields, body: text.slice(end.index + end[0].length).trim() }
}

function readFields(parse: () => unknown, file: string): Fields {
  let value: unknown
  try {
    value = parse() ?? {}
  } catch (thrown) {
    const [first = 'cannot be parsed'] = thrown instanceof Error ? thrown.message.split('\n') : []
    throw new InvalidArticle(`${file}: front matter: ${first.replace(/:$/, '')}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArticle(`${file}: front matter: write fields such as "title: My page"`)
  // `tags:` without a value means no tags.
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}
