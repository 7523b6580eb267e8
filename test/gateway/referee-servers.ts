/** MCP servers of others, pinned in `test/kit/npm/referee-servers`: how each is started, what it speaks, and a call. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Params } from 'sluice'
import { chromiumPath } from '../kit/processes/chromium.ts'
import { programIn } from '../kit/processes/npm-packages.ts'

/** One server of the sweep. */
export interface Referee {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly revision: string
  /** The number of tools it lists to a client that declares every capability. */
  readonly tools: number
  /** Calls in order. The answer of the last one is compared. */
  readonly calls: readonly (readonly [tool: string, args: Params])[]
  /** A text that the answer contains. */
  readonly answer: string
  /** Parts of an answer that differ from call to call. */
  readonly varying?: RegExp
}

export interface Referees {
  readonly rows: readonly Referee[]
  /** Deletes the folders that the servers work in. */
  remove(): void
}

/** Prepares the folders that the servers work in, and returns the servers. */
export function prepareReferees(): Referees {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-referees-'))
  const [files, vault, repository] = ['files', 'vault', 'repository'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const each of [files, vault, repository]) mkdirSync(each)
  writeFileSync(join(files, 'letter.txt'), 'Dear Ada\n')
  writeFileSync(join(vault, 'note.md'), '# Engines\n\nDifference and analytical\n')
  const entity = { type: 'entity', name: 'Ada', entityType: 'person', observations: ['wrote notes'] }
  writeFileSync(join(folder, 'memory.jsonl'), `${JSON.stringify(entity)}\n`)
  const git = (...args: readonly string[]): Buffer =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: repository })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '--message', 'The first commit')

  const program = (name: string): string => programIn('referee-servers', name)
  const page = 'data:text/html,<title>Engines</title><h1>Difference</h1>'
  const browser = ['--headless', '--isolated', '--no-sandbox', '--executable-path', chromiumPath()]
  const rows: readonly Referee[] = [
    {
      ...{ name: 'everything', command: program('mcp-server-everything'), args: ['stdio'], revision: '2025-11-25' },
      ...{ tools: 17, calls: [['get-structured-content', { location: 'Chicago' }]], answer: 'temperature' },
    },
    {
      ...{ name: 'filesystem', command: program('mcp-server-filesystem'), args: [files], revision: '2025-11-25' },
      ...{ tools: 14, calls: [['read_text_file', { path: join(files, 'letter.txt') }]], answer: 'Dear Ada' },
    },
    {
      ...{ name: 'memory', command: program('mcp-server-memory'), args: [], revision: '2025-11-25', tools: 9 },
      ...{
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
        calls: [['read_graph', {}]],
        answer: 'wrote notes',
      },
    },
    {
      ...{ name: 'thinking', command: program('mcp-server-sequential-thinking'), args: [], revision: '2025-11-25' },
      tools: 1,
      calls: [
        ['sequentialthinking', { thought: 'Why?', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }],
      ],
      ...{ answer: 'thoughtHistoryLength', varying: /(?<=thoughtHistoryLength\\?": ?)\d+/g },
    },
    {
      ...{ name: 'git', command: program('git-mcp-server'), args: [], revision: '2025-11-25', tools: 28 },
      env: { MCP_LOG_LEVEL: 'error', LOGS_DIR: join(folder, 'logs') },
      ...{ calls: [['git_log', { path: repository }]], answer: 'The first commit' },
    },
    {
      ...{ name: 'vault', command: program('mcpvault'), args: [vault], revision: '2026-07-28', tools: 18 },
      ...{ calls: [['read_note', { path: 'note.md' }]], answer: 'Difference and analytical' },
    },
    {
      ...{ name: 'commands', command: program('mcp-server-commands'), args: [], revision: '2024-11-05', tools: 1 },
      ...{ calls: [['run_command', { command: 'echo hello' }]], answer: 'hello' },
    },
    {
      ...{ name: 'budget', command: program('mcp-budget-allocator-server'), args: ['--stdio'], revision: '2025-11-25' },
      ...{ tools: 1, calls: [['get-budget-data', {}]], answer: 'Default Budget' },
    },
    {
      ...{ name: 'azure', command: program('azmcp'), args: ['server', 'start'], revision: '2025-11-25', tools: 61 },
      env: { AZURE_MCP_COLLECT_TELEMETRY: 'false' },
      ...{ calls: [['aks', { intent: 'list clusters', learn: true }]], answer: 'aks_cluster_get' },
    },
    {
      ...{ name: 'playwright', command: program('playwright-mcp'), revision: '2025-11-25', tools: 25 },
      args: [...browser, '--output-dir', join(folder, 'pages')],
      calls: [
        ['browser_navigate', { url: page }],
        ['browser_snapshot', {}],
      ],
      ...{ answer: 'heading', varying: /(?<=ref=)\w+/g },
    },
  ]
  return { rows, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
