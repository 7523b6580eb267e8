/**
 * An upstream for tests of processes. Its tool `do` behaves as its argument `how` says. Each call leaves a line with its
 * `mark` in the file of LEDGER, so that a test can count how often a call ran.
 */

import { spawn } from 'node:child_process'
import { appendFileSync, closeSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Request {
  readonly id: number | string
  readonly method: string
  readonly params?: {
    readonly arguments?: { readonly how?: string; readonly mark?: string; readonly size?: number }
    readonly _meta?: { readonly progressToken?: unknown }
  }
}

const [start = ''] = process.argv.slice(2)
const ledger = process.env['LEDGER']
const write = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (id: Request['id'], value: unknown): boolean =>
  write({ id, result: { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(value) }] } })

if (start === 'exit') process.exit(3)
if (start === 'noise') process.stdout.write('Welcome!\nnot json {\n')
if (start === 'stderr') process.stderr.write(`${'x'.repeat(2000)}\n`.repeat(200).concat('the last words'))
if (start === 'stubborn') {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
}

const sleeper = 'setInterval(() => {}, 1000)'
let calls = 0
/** The marks of all calls that this process has served: what another caller would see if it shared the process. */
const seen: string[] = []
const tool = {
  name: 'do',
  description: 'Behaves as it is told',
  inputSchema: {
    type: 'object',
    properties: { how: { type: 'string' }, mark: { type: 'string' }, size: { type: 'number' } },
  },
}

const ways: { readonly [how: string]: (id: Request['id'], size: number, progressToken: unknown) => void } = {
  facts: (id) => text(id, { pid: process.pid, uid: process.getuid?.(), env: process.env, cwd: process.cwd(), calls }),
  seen: (id) => text(id, seen.slice(-20)),
  /** Answers after a moment, so that a kill meets calls in flight. */
  work: (id) => setTimeout(() => text(id, seen.at(-1)), Math.random() * 40),
  never() {},
  lines() {
    const chunk = 'x\n'.repeat(16 * 1024)
    const more = (): unknown => process.stdout.write(chunk, more)
    more()
  },
  exit: () => process.exit(3),
  'exit-127': () => process.exit(127),
  'answer-and-exit'(id) {
    text(id, 'last')
    process.exit(0)
  },
  'exit-later'(id) {
    text(id, 'bye')
    setTimeout(() => process.exit(0), 20)
  },
  large(id, size) {
    const chunk = 'x'.repeat(1024 * 1024)
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`)
    let left = size
    const more = (): void => {
      if (--left < 0) process.stdout.write('"}]}}\n')
      else process.stdout.write(chunk, more)
    }
    more()
  },
  progress(id, size, progressToken) {
    for (let progress = 1; progress <= size; progress++)
      write({ method: 'notifications/progress', params: { progressToken, progress, total: size } })
    text(id, 'done')
  },
  twice(id) {
    text(id, 'first')
    text(id, 'second')
  },
  'unknown-id'(id) {
    for (const other of [0, -1, 9999, 'x']) text(other, 'wrong')
    text(id, 'right')
  },
  /** A request of the server that has the id of the client's request. */
  'id-in-use'(id) {
    write({ id, method: 'ping' })
    write({ id, method: 'roots/list' })
    text(id, 'right')
  },
  'not-json'(id) {
    process.stdout.write('Listening…\n{"jsonrpc":\n\n[]\n')
    text(id, 'right')
  },
  'close-input'(id) {
    process.stdin.destroy()
    closeSync(0)
    text(id, 'closed')
    setInterval(() => {}, 1000)
  },
  'close-output'() {
    process.stdout.end()
    setInterval(() => {}, 1000)
  },
  'fork-and-exit'() {
    spawn(process.execPath, ['-e', sleeper], { stdio: 'inherit' })
    setTimeout(() => process.exit(0), 20)
  },
  fork(id) {
    const { pid } = spawn(process.execPath, ['-e', sleeper], { stdio: 'ignore' })
    text(id, { pid })
  },
}

const input = createInterface(process.stdin)
input.on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as Request
  if (method === 'initialize') {
    const capabilities = { tools: {} }
    write({
      id,
      result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'fixture', version: '1' } },
    })
  } else if (method === 'server/discover') {
    if (start === 'exit-on-discover') process.exit(1)
    if (start !== 'mute') write({ id, error: { code: -32601, message: 'Unknown method' } })
  } else if (method === 'tools/list') write({ id, result: { tools: [tool] } })
  else if (method === 'tools/call') {
    calls++
    const { how = 'facts', mark, size = 0 } = params?.arguments ?? {}
    if (mark !== undefined) seen.push(mark)
    if (ledger !== undefined && mark !== undefined) appendFileSync(ledger, `${mark}\n`)
    ways[how]?.(id, size, params?._meta?.progressToken)
  }
})
