/**
 * `npm run reference`: writes docs/reference, a page per entry of the published packages. `-- --check` writes nothing.
 * It fails if a page is out of date, or if a public declaration has no doc comment.
 */

import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry, Item } from './reference/declarations.ts'
import { readEntries } from './reference/declarations.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs/reference')

const pageOf = (entry: string): string => `${entry.replace('@sluice/', '').replaceAll('/', '-')}.md`

/** Formats the declarations like our own code. All at once, because each run of the formatter costs a process. */
function formatted(items: readonly Item[]): ReadonlyMap<Item, string> {
  const next = '// the next one\n'
  const input = items.map(({ code }) => `${code}\n`).join(next)
  const formatter = ['format', '--stdin-file-path=reference.d.ts']
  const options = { cwd: root, input, encoding: 'utf8', maxBuffer: 2 ** 26 } as const
  const codes = execFileSync(join(root, 'node_modules/.bin/biome'), formatter, options).split(next)
  return new Map(items.map((item, at) => [item, codes[at]?.trim() ?? '']))
}

function toPage({ name, about, exports, further, elsewhere }: Entry, codes: ReadonlyMap<Item, string>): string {
  const part = (title: string, items: readonly Item[]): readonly string[] =>
    items.length === 0
      ? []
      : [
          `## ${title}`,
          ...items.flatMap((item) => [`### ${item.name}`, item.about, `\`\`\`ts\n${codes.get(item)}\n\`\`\``]),
        ]
  const links = elsewhere.map(({ name, entry }) => `[${name}](${pageOf(entry)}#${name.toLowerCase()})`)
  return [
    `# ${name}`,
    about,
    ...part(
      'Functions and values',
      exports.filter(({ isType }) => !isType),
    ),
    ...part(
      'Types',
      exports.filter(({ isType }) => isType),
    ),
    ...part('Mentioned above', further),
    ...(links.length > 0 ? ['## On other pages', links.join(' · ')] : []),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** Returns the first sentence, for the table. */
const firstOf = (about: string): string => {
  const [paragraph = ''] = about.split('\n\n')
  return (/^.*?\.(?=\s|$)/s.exec(paragraph)?.[0] ?? paragraph.replace(/:$/, '.')).replaceAll('\n', ' ')
}

const entries = readEntries()
const codes = formatted(entries.flatMap(({ exports, further }) => [...exports, ...further]))
const rows = entries.map(({ name, about }) => `| [\`${name}\`](${pageOf(name)}) | ${firstOf(about)} |`)
const readme = `# Reference

Everything the published packages export, by the entry it is imported from. Made from the sources by \`npm run reference\`.

| entry | |
|---|---|
${rows.join('\n')}`
const pages = new Map([
  ['README.md', readme],
  ...entries.map((entry) => [pageOf(entry.name), toPage(entry, codes)] as const),
])

const silent = entries.flatMap(({ name, about, exports }) => [
  ...(about === '' ? [`${name} has no doc comment`] : []),
  ...exports.filter(({ about }) => about === '').map((item) => `${item.name} of ${name} has no doc comment`),
])
const before = globSync('*.md', { cwd: folder })
const stale = [...new Set([...before, ...pages.keys()])].filter(
  (page) => !before.includes(page) || readFileSync(join(folder, page), 'utf8') !== `${pages.get(page)}\n`,
)
if (process.argv.includes('--check')) {
  for (const page of stale) console.error(`docs/reference/${page} is out of date; run: npm run reference`)
  if (stale.length > 0) process.exitCode = 1
} else {
  mkdirSync(folder, { recursive: true })
  for (const page of before) if (!pages.has(page)) rmSync(join(folder, page))
  for (const [page, text] of pages) writeFileSync(join(folder, page), `${text}\n`)
  console.log(`docs/reference: ${pages.size} pages, ${stale.length} changed`)
}
for (const each of silent) console.error(each)
if (silent.length > 0) process.exitCode = 1
