/**
 * A folder of Markdown files, read as often as asked; only files that changed are read again.
 *
 * A file's collection is the folder it is in (`guides/deploy/docker.md` is `docker` in `guides-deploy`; what lies at the
 * top is in `articles`), its slug its name. Hidden files and `node_modules` are passed over, links are not followed:
 * nothing outside the folder is ever served.
 */

import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Article } from './article.ts'
import { keyOf } from './article.ts'
import { InvalidArticle, parseMarkdown } from './markdown.ts'

export interface FolderChanges {
  /** New or changed since the last reading. */
  readonly put: readonly Article[]
  /** Keys of those that are gone. */
  readonly removed: readonly string[]
  /** Files that are no articles, and why: for whoever wrote them. */
  readonly problems: readonly string[]
}

/** One file as it was read last. */
interface KnownFile {
  readonly stamp: string
  readonly article?: Article
  readonly problem?: string
}

/** What is longer is something else with this ending. */
const maxBytes = 1024 * 1024
/** Files read at once. */
const maxParallelReads = 32

/** The function reads the folder; it throws only where the folder itself cannot be read. */
export function openFolder(root: string): () => Promise<FolderChanges> {
  let known: ReadonlyMap<string, KnownFile> = new Map()
  let articles: ReadonlyMap<string, Article> = new Map()
  return async function read() {
    const files = await findFiles(root)
    const found = new Map<string, KnownFile>()
    for (let at = 0; at < files.length; at += maxParallelReads) {
      const some = files.slice(at, at + maxParallelReads)
      const read = await Promise.all(
        some.map(async (file) => [file, await readArticleFile(root, file, known.get(file))] as const),
      )
      for (const [file, one] of read) if (one) found.set(file, one)
    }
    const now = new Map<string, Article>()
    const problems: string[] = []
    for (const [file, { article, problem }] of found) {
      if (problem !== undefined) problems.push(problem)
      if (!article) continue
      if (now.has(keyOf(article)))
        problems.push(`${file}: another file is ${keyOf(article)} already; rename one of them`)
      else now.set(keyOf(article), article)
    }
    const put = [...now].flatMap(([key, article]) => (articles.get(key) === article ? [] : [article]))
    const removed = [...articles.keys()].filter((key) => !now.has(key))
    known = found
    articles = now
    return { put, removed, problems }
  }
}

/** Paths below the folder, in order, so that of two files with one key always the same one wins. */
async function findFiles(root: string, below = ''): Promise<readonly string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    // A folder that goes away while it is read has no files.
    if (entry.isDirectory()) found.push(...(await findFiles(root, path).catch(() => [])))
    else if (entry.isFile() && /\.(?:md|markdown)$/i.test(entry.name)) found.push(path)
  }
  return found
}

/** Nothing for a file that went away meanwhile. */
async function readArticleFile(
  root: string,
  file: string,
  before: KnownFile | undefined,
): Promise<KnownFile | undefined> {
  const path = join(root, file)
  const { ctimeNs, mtime, size } = (await stat(path, { bigint: true }).catch(() => undefined)) ?? {}
  if (size === undefined || mtime === undefined) return undefined
  const stamp = `${ctimeNs} ${size}`
  if (before?.stamp === stamp) return before
  if (size > maxBytes) return { stamp, problem: `${file}: larger than ${maxBytes} bytes` }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
    // Many editors empty a file before they write it: an empty one must not be mistaken for a Live article.
    if (text.trim() === '') return { stamp }
    const name = basename(file, extname(file))
    const parsed = parseMarkdown({ file, name, changed: mtime.toISOString().slice(0, 10), text })
    return { stamp, article: { collection: collectionOf(file), slug: name, ...parsed } }
  } catch (thrown) {
    if (thrown instanceof InvalidArticle) return { stamp, problem: thrown.message }
    const why = thrown instanceof TypeError ? 'not UTF-8' : 'cannot be read'
    return { stamp, problem: `${file}: ${why}` }
  }
}

const collectionOf = (file: string): string => (file.includes('/') ? dirname(file).replaceAll('/', '-') : 'articles')
