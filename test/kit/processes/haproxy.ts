/** A real HAProxy with the configuration of docs/deploy.md: only addresses differ, and what its log says of each request. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireProgram } from './programs.ts'

export interface HaproxyServer {
  /** Of the endpoint. */
  readonly url: string
  readonly host: string
  /** By the request's `x-request-id`, once the exchange is over. */
  served(id: string): Served | undefined
  /** What the configuration calls the process on this port. */
  nameOf(port: number): string
  stop(): Promise<void>
}

/** Who served a request, the status, and how the exchange ended (`--` is well). */
export interface Served {
  readonly server: string
  readonly status: number
  readonly ended: string
}

const configuration = new URL('../../../docs/deploy/haproxy.cfg', import.meta.url)
const names = ['one', 'two', 'three']

export async function startHaproxy(ports: readonly number[], port: number): Promise<HaproxyServer> {
  const binary = requireProgram('haproxy', 'haproxy', '-v')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-'))
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, toConfiguration(ports, port, folder))
  execFileSync(binary, ['-c', '-q', '-f', file])
  // A file, because HAProxy drops the lines that a full pipe does not take.
  const log = openSync(join(folder, 'log'), 'a+')
  const process = spawn(binary, ['-db', '-f', file], { stdio: ['ignore', log, 'ignore'] })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    served: reader(log),
    nameOf: (of) => names[ports.indexOf(of)] ?? '',
    async stop() {
      const gone = once(process, 'exit')
      process.kill('SIGKILL')
      await gone
      closeSync(log)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Reads on from where it read last. */
function reader(log: number): HaproxyServer['served'] {
  const known = new Map<string, Served>()
  const bytes = Buffer.alloc(64 * 1024)
  let position = 0
  let unfinished = ''
  const readOn = (): void => {
    for (let size = 1; size > 0; position += size) {
      size = readSync(log, bytes, 0, bytes.length, position)
      const lines = (unfinished + bytes.toString('latin1', 0, size)).split('\n')
      unfinished = lines.pop() ?? ''
      for (const line of lines) {
        const [, id = '', server = '', status = '', ended = ''] = /^served (\S+) (\S+) (\S+) (\S+)/.exec(line) ?? []
        if (id) known.set(id, { server, status: Number(status), ended })
      }
    }
  }
  return (id) => {
    if (!known.has(id)) readOn()
    return known.get(id)
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
