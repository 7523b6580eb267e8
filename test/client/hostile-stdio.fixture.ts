/** A server on a pipe that misbehaves in the way its argument names, after a good handshake. */

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [how = ''] = process.argv.slice(2)
const write = (text: string): boolean => process.stdout.write(text)
const discovered = { supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'private' }

const ways: { readonly [how: string]: (id: number) => void } = {
  garbage(id) {
    write('Listening…\n\n\u0000\n{"jsonrpc":"2.0"}\n[1]\n"x"\n{"id":{}}\n')
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}\n`)
  },
  'half-lines'(id) {
    const line = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"ü👋"}]}}\r\n`)
    for (const byte of line) process.stdout.write(Uint8Array.of(byte))
  },
  'endless-line'() {
    const more = (): void => {
      process.stdout.write('x'.repeat(65_536), more)
    }
    more()
  },
  flood() {
    const note = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x' } })}\n`
    const more = (): void => {
      process.stdout.write(note.repeat(1000), () => setImmediate(more))
    }
    more()
  },
  'wrong-ids'(id) {
    for (const other of [0, -1, id + 1, 1.5, '"x"', `"${id}"`, 'null', 'true', '{}'])
      write(`{"jsonrpc":"2.0","id":${other},"result":{"content":[]}}\n`)
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"right"}]}}\n`)
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"twice"}]}}\n`)
  },
  exit() {
    process.exit(3)
  },
  'close-output'() {
    process.stdout.end()
    setInterval(() => {}, 1000)
  },
  silent() {},
  /** Ends well, but what it started does not. */
  'leaves-child'() {
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }).unref()
    write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: process.pid } })}\n`)
  },
  stubborn() {
    process.on('SIGTERM', () => {})
    setInterval(() => {}, 1000)
    // A grandchild that holds the pipes and outlives its parent.
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })
    write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: process.pid } })}\n`)
  },
}

createInterface(process.stdin).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id: number; method: string }
  if (method === 'server/discover') write(`${JSON.stringify({ jsonrpc: '2.0', id, result: discovered })}\n`)
  else if (method === 'tools/call') ways[how]?.(id)
})
