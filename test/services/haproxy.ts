/** A real HAProxy with the configuration of docs/deploy.md: only addresses differ, and what its log says of each request. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { installed } from './machine.ts'

export interface HaproxyServer {
  /** Of the endpoint. */
  readonly url: string
  readonly host: string
  /** By the request's `x-request-id`: who served it, the status, and how the exchange ended (`--` is well). */
  readonly log: ReadonlyMap<string, Served>
  /** What the configuration calls the process on this port. */
  nameOf(port: number): string
  stop(): Promise<void>
}

export interface Served {
  readonly server: string
  readonly status: number
  readonly ended: string
}

const configuration = new URL('../../docs/deploy/haproxy.cfg', import.meta.url)
const names = ['one', 'two', 'three']

export async function startHaproxy(ports: readonly number[], port: number): Promise<HaproxyServer> {
  const binary = installed('haproxy', 'haproxy', '-v')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-'))
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, toConfiguration(ports, port, folder))
  execFileSync(binary, ['-c', '-q', '-f', file])
  const process = spawn(binary, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'ignore'] })
  const log = new Map<string, Served>()
  createInterface({ input: process.stdout }).on('line', (line) => {
    const [, id = '', server = '', status = '', ended = ''] = /^served (\S+) (\S+) (\S+) (\S+)/.exec(line) ?? []
    if (id) log.set(id, { server, status: Number(status), ended })
  })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    log,
    nameOf: (of) => names[ports.indexOf(of)] ?? '',
    async stop() {
      const gone = once(process, 'exit')
      process.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function toConfiguration(ports: readonly number[], port: number, folder: string): string {
  let text = readFileSync(configuration, 'utf8')
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('/run/haproxy/mcp.sock', join(folder, 'mcp.sock'))
  for (const [index, own] of ports.entries()) text = text.replace(`127.0.0.1:${3001 + index}`, `127.0.0.1:${own}`)
  // Which process a request was given to is what the log says, not what its time suggests.
  const counted = `    http-request capture req.hdr(x-request-id) len 64
    log-format "served %[capture.req.hdr(0)] %s %ST %ts"
    default_backend processes`
  return text.replace('    default_backend processes', counted)
}
