/** A real HAProxy with the configuration of docs/deploy.md; only the addresses and the log format differ. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireProgram } from './programs.ts'

export interface HaproxyServer {
  /** The URL of the endpoint. */
  readonly url: string
  readonly host: string
  /** The outcome by the request's `x-request-id`, once the exchange has ended. */
  served(id: string): Served | undefined
  /** The name of the process on this port in the configuration. */
  nameOf(port: number): string
  stop(): Promise<void>
}

/** Which process served a request, the status, and how the exchange ended (`--` means normally). */
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
  // A file, because HAProxy drops lines that a full pipe does not accept.
  const log = openSync(join(folder, 'log'), 'a+')
  const process = spawn(binary, ['-db', '-f', file], { stdio: ['ignore', log, 'ignore'] })
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    host: `127.0.0.1:${port}`,
    served: reader(log),
    nameOf: (of) => names[ports.indexOf(of)] ?? '',
    async stop() {
      const exited = once(process, 'exit')
      process.kill('SIGKILL')
      await exited
      closeSync(log)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Continues reading where the last read ended. */
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
  for (const [index, port] of ports.entries()) text = text.replace(`127.0.0.1:${3001 + index}`, `127.0.0.1:${port}`)
  // The log names the process that got a request; timing would only suggest it.
  const counted = `    http-request capture req.hdr(x-request-id) len 64
    log-format "served %[capture.req.hdr(0)] %s %ST %ts"
    default_backend processes`
  return text.replace('    default_backend processes', counted)
}
