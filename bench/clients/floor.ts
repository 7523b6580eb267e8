/**
 * The floor: the least a client can do on Node. `node:http` with kept connections, or a line per message on a pipe; it
 * parses the answer and matches its id, and knows nothing of the protocol.
 */
import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { callMessage, httpHeaders } from '../lib/messages.ts'
import type { BenchClient, ServerAddress } from './client.ts'
import { textOf } from './client.ts'

export function open(address: ServerAddress): Promise<BenchClient> {
  return Promise.resolve('url' in address ? overHttp(address.url) : overStdio(address.script))
}

function overHttp(url: string): BenchClient {
  const { hostname, port, pathname } = new URL(url)
  const agent = new Agent({ keepAlive: true })
  const headers = httpHeaders('tools/call', '2026-07-28')
  let ids = 0
  return {
    call: () =>
      new Promise((resolve, reject) => {
        const body = callMessage('2026-07-28', ++ids)
        const sent = request({ hostname, port, path: pathname, method: 'POST', headers, agent }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => resolve(textOf(JSON.parse(Buffer.concat(chunks).toString()).result)))
        })
        sent.on('error', reject)
        sent.end(body)
      }),
    async close() {
      agent.destroy()
    },
  }
}

function overStdio(script: string): BenchClient {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, (text: string) => void>()
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id, result } = JSON.parse(line) as { id: number; result: unknown }
      waiting.get(id)?.(textOf(result))
      waiting.delete(id)
    }
  })
  let ids = 0
  return {
    call: () =>
      new Promise((resolve) => {
        waiting.set(++ids, resolve)
        child.stdin.write(`${callMessage('2026-07-28', ids)}\n`)
      }),
    async close() {
      child.stdin.end()
      child.kill()
    },
  }
}
