/**
 * `npm run compare`: the same three tools with Sluice, FastMCP and the official SDK. Installs each in an empty folder,
 * counts lines and packages, starts the programs, and sends them real messages.
 *
 *   npm run compare               prints the table
 *   npm run compare -- --write    writes it into README.md and docs/comparison.md
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installContender } from './compare/install.ts'
import { probeOAuth, refusesStrangers, revisionsOf, runsOnOwnWord } from './compare/probes.ts'
import { withProgram } from './compare/program.ts'
import { progress } from './lib/figures.ts'

const contenders = ['sluice', 'fastmcp', 'sdk'] as const
const programs = ['hello.ts', 'oauth.ts', 'approvals.ts'] as const

/** Lines of code: without blank lines and comments. */
function linesOf(contender: string, program: string): number {
  const text = readFileSync(join(import.meta.dirname, 'compare', contender, program), 'utf8')
  const code = text.replace(/\/\*.*?\*\//gs, '').split('\n')
  return code.filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length
}

const versionOf = (folder: string, name: string): string =>
  (JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as { version: string }).version
const titles: Record<(typeof contenders)[number], (folder: string) => string> = {
  sluice: () => '**Sluice**',
  fastmcp: (folder) => `FastMCP ${versionOf(folder, 'fastmcp')}`,
  sdk: (folder) => `official SDK ${versionOf(folder, '@modelcontextprotocol/server')}`,
}
const yes = (is: boolean): string => (is ? 'yes' : 'no')

/** Read in the documentation and the declarations of these versions; the rows above it are measured. */
const documented: readonly (readonly [string, string, string, string])[] = [
  ['approval by another person, bound to the call', 'yes', 'no', 'no'],
  ['audit log, rate limits, tenants, idempotency keys', 'yes', 'no: hooks only', 'no'],
  [
    'state shared by several processes',
    'Redis or PostgreSQL',
    'no: one process, or stateless',
    'stateless; notifications by your own bus',
  ],
  ['runs an OAuth proxy for Google, GitHub, Azure', 'no', 'yes', 'no'],
  ['makes tools from an OpenAPI document', 'no', 'yes', 'no'],
  ['published on npm', 'not yet', 'yes', 'yes'],
]

async function columnOf(contender: (typeof contenders)[number]): Promise<readonly string[]> {
  progress(`compare: ${contender}`)
  const { folder, packages, megabytes } = installContender(contender)
  try {
    const { revisions, strangers } = await withProgram(folder, 'hello.ts', {}, async (running) => ({
      revisions: await revisionsOf(running),
      strangers: await refusesStrangers(running),
    }))
    const oauth = await probeOAuth(folder)
    const runs = await withProgram(folder, 'approvals.ts', { CONSOLE_PORT: '0' }, (running) =>
      runsOnOwnWord(running, contender === 'sluice'),
    )
    return [
      titles[contender](folder),
      ...programs.map((program) => String(linesOf(contender, program))),
      `${packages} / ${megabytes.toFixed(1)}`,
      revisions.length === 5 ? 'all five' : revisions.join(', '),
      `${yes(strangers.host)} / ${yes(strangers.origin)}`,
      oauth.good && oauth.none && oauth.otherAudience && oauth.withoutScope
        ? `yes; metadata ${oauth.metadata ? 'found' : 'not found'}`
        : `no: ${JSON.stringify(oauth)}`,
      yes(runs),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const names = [
  '',
  'lines: one tool over HTTP',
  'lines: the same behind OAuth',
  'lines: a tool that must be confirmed',
  'packages / MB installed, with Zod',
  'protocol revisions answered',
  'refuses a foreign Host / Origin header, as written',
  'OAuth: takes the right token only',
  'a client that answers "yes" by itself gets its call run',
]
const columns: (readonly string[])[] = []
for (const contender of contenders) columns.push(await columnOf(contender))
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const rows = names.map((name, index) => row([name, ...columns.map((column) => column[index] ?? '')]))
const [heading = '', ...measured] = rows
const table = [heading, '|---|---|---|---|', ...measured, ...documented.map(row)].join('\n')

console.log(table)
if (process.argv.includes('--write'))
  for (const file of ['README.md', 'docs/comparison.md']) {
    const path = join(import.meta.dirname, '..', file)
    const text = readFileSync(path, 'utf8')
    const marked = /(<!-- comparison -->\n).*?(<!-- \/comparison -->)/s
    if (!marked.test(text)) throw new Error(`${file} has no place for the table`)
    writeFileSync(
      path,
      text.replace(marked, (_all, start: string, end: string) => `${start}\n${table}\n\n${end}`),
    )
  }
