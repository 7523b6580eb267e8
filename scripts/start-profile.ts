/** Finds out which functions a start runs: it starts the command as a client does, and reads V8's coverage. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const command = join(root, 'packages/cli/bin/sluice.js')
const serve = [command, 'serve', join(root, 'examples/hello.ts'), '--stdio']
/** The commands that clients start. */
const starts = [serve, [command, 'wrap', '--stdio', '--', process.execPath, ...serve]]

const clientInfo = { name: 'profile', version: '1' }
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const shout = { name: 'shout', arguments: { text: 'hello' } }
/** What clients of either handshake send first. */
const sessions = [
  [
    { id: 1, method: 'server/discover', params: { _meta: envelope } },
    { id: 2, method: 'tools/list', params: { _meta: envelope } },
    { id: 3, method: 'tools/call', params: { ...shout, _meta: envelope } },
  ],
  [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: shout },
  ],
]

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly { startOffset: number; count: number }[] }[]
  }[]
}

/** A start that has not answered by then has failed. A server that answers wrongly would stop the build for ever. */
const answersWithinMs = 60_000

/** Returns the offsets of the functions that ran, by the URL of their file. */
export async function profileStarts(): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-profile-'))
  try {
    for (const args of starts) for (const messages of sessions) await runStart(args, messages, folder)
    const found = new Map<string, Set<number>>()
    for (const file of readdirSync(join(folder, 'coverage'))) {
      const { result } = JSON.parse(readFileSync(join(folder, 'coverage', file), 'utf8')) as Coverage
      for (const { url, functions } of result) {
        const offsets = found.get(url) ?? new Set()
        found.set(url, offsets)
        for (const { ranges } of functions) if (ranges[0] && ranges[0].count > 0) offsets.add(ranges[0].startOffset)
      }
    }
    return found
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function runStart(args: readonly string[], messages: readonly object[], folder: string): Promise<void> {
  const child = spawn(process.execPath, [...args], {
    cwd: folder,
    env: {
      ...process.env,
      ...{ NODE_V8_COVERAGE: join(folder, 'coverage'), XDG_CACHE_HOME: folder, XDG_DATA_HOME: join(folder, 'data') },
    },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: answersWithinMs,
  })
  const exited = once(child, 'exit')
  child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  let answers = ''
  for await (const chunk of child.stdout) {
    answers += String(chunk)
    if (answers.includes('HELLO')) child.stdin.end()
  }
  await exited
  if (!answers.includes('HELLO')) throw new Error(`${args.slice(1).join(' ')} answered ${answers || 'nothing'}`)
}
