/**
 * Reads a folder of Markdown files; later reads only open the files that changed.
 *
 * The folder of a file is its collection, its name the slug: `guides/deploy/docker.md` is `docker` in `guides-deploy`.
 * Files at the top are in `articles`. A page with a separate folder (`posts/hello/index.md`) is named by that folder.
 * Hidden files, `node_modules` and a folder of skills are skipped, and links are not followed, so that nothing outside
 * the folder is ever served.
 */

import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Article } from './article.ts'
import { isVisible, keyOf } from './article.ts'
import { InvalidArticle, type SplitMarkdown, splitFrontMatter } from './front-matter.ts'
import { hiddenReason, type Rules, type Source, toContent, usesStatus } from './markdown.ts'
import { holdsSkills, skillFolder } from './skill-folder.ts'

export interface FolderChanges {
  /** New or changed since the last read. */
  readonly put: readonly Article[]
  /** Keys of the removed articles. */
  readonly removed: readonly string[]
  /** Invalid files and the reason, for their author. */
  readonly problems: readonly string[]
  /** Valid files that are not visible and the reason, for their author. */
  readonly hidden: readonly string[]
}

/** One file as of the last read. */
interface KnownFile {
  readonly stamp: string
  readonly source?: Source
  readonly markdown?: SplitMarkdown
  readonly problem?: string
}
/** One file under the rules of its folder. */
interface Outcome {
  readonly article?: Article
  readonly problem?: string
}

/** A larger file is something else with the same extension. */
const maxBytes = 1024 * 1024
/** Files read at the same time. */
const maxParallelReads = 32

/** Returns a function that reads the folder. It throws only if the folder itself cannot be read. */
export function openFolder(root: string): () => Promise<FolderChanges> {
  let known: ReadonlyMap<string, KnownFile> = new Map()
  let articles: ReadonlyMap<string, Article> = new Map()
  let lastRules: Rules | undefined
  let outcomes = new WeakMap<KnownFile, Outcome>()
  /** Keeps the article of an unchanged file, so that it is not reported as changed. */
  function outcomeOf(file: KnownFile, rules: Rules): Outcome {
    const outcome = outcomes.get(file) ?? toOutcome(file, rules)
    outcomes.set(file, outcome)
    return outcome
  }
  return async function read() {
    const files = await findFiles(root)
    const found = new Map<string, KnownFile>()
    for (let at = 0; at < files.length; at += maxParallelReads) {
      const some = files.slice(at, at + maxParallelReads)
      const read = await Promise.all(
        some.map(async (file) => [file, await readMarkdownFile(root, file, known.get(file))] as const),
      )
      for (const [file, one] of read) if (one) found.set(file, one)
    }
    const rules = [...found.values()].some(({ markdown }) => markdown && usesStatus(markdown)) ? 'strict' : 'common'
    if (rules !== lastRules) outcomes = new WeakMap()
    lastRules = rules
    const now = new Map<string, Article>()
    const problems: string[] = []
    const hidden: string[] = []
    for (const [file, one] of found) {
      const { article, problem } = outcomeOf(one, rules)
      if (problem !== undefined) problems.push(problem)
      if (!article) continue
      if (now.has(keyOf(article)))
        problems.push(`${file}: the key ${keyOf(article)} is already taken by another file; rename one of them`)
      else now.set(keyOf(article), article)
      if (one.markdown && !isVisible(article)) hidden.push(`${file}: ${hiddenReason(one.markdown, article)}`)
    }
    const put = [...now].flatMap(([key, article]) => (articles.get(key) === article ? [] : [article]))
    const removed = [...articles.keys()].filter((key) => !now.has(key))
    known = found
    articles = now
    return { put, removed, problems, hidden }
  }
}

/** Returns sorted paths, so that of two files with one key the same one always wins. */
async function findFiles(root: string, below = ''): Promise<readonly string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    if (path === skillFolder && holdsSkills(root)) continue
    // A folder that is deleted during the read has no files.
    if (entry.isDirectory()) found.push(...(await findFiles(root, path).catch(() => [])))
    else if (entry.isFile() && /\.(?:mdx?|markdown)$/i.test(entry.name)) found.push(path)
  }
  return found
}

/** Returns `undefined` if the file was deleted in the meantime. */
async function readMarkdownFile(
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
    // Many editors empty a file before they write it. An empty file must not be mistaken for a Live article.
    if (text.trim() === '') return { stamp }
    const source = { file, name: locationOf(file).slug, changed: mtime.toISOString().slice(0, 10) }
    return { stamp, source, markdown: splitFrontMatter(text, file) }
  } catch (thrown) {
    if (thrown instanceof InvalidArticle) return { stamp, problem: thrown.message }
    const why = thrown instanceof TypeError ? 'not UTF-8' : 'cannot be read'
    return { stamp, problem: `${file}: ${why}` }
  }
}

function toOutcome({ source, markdown, problem }: KnownFile, rules: Rules): Outcome {
  if (!source || !markdown) return problem === undefined ? {} : { problem }
  try {
    return { article: { ...locationOf(source.file), ...toContent(source, markdown, rules) } }
  } catch (thrown) {
    if (thrown instanceof InvalidArticle) return { problem: thrown.message }
    throw thrown
  }
}

function locationOf(file: string): Pick<Article, 'collection' | 'slug'> {
  const [folder, name] = [dirname(file), basename(file, extname(file))]
  if (folder !== '.' && /^_?index$/i.test(name)) return locationOf(`${folder}.md`)
  return { collection: folder === '.' ? 'articles' : folder.replaceAll('/', '-'), slug: name }
}
