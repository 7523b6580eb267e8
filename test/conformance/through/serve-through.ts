/** Serves the suite's server behind a gateway: an official SDK or Sluice as the upstream, over HTTP or stdio. */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log, park } from 'sluice/plugins'
import type { Serving } from '../serve.ts'
import { startServing } from '../serve.ts'

export const cells = ['http-v1', 'http-v2', 'stdio-v1', 'stdio-v2', 'http-sluice'] as const
export type Cell = (typeof cells)[number]

/** Sluice's own server, which has skills. The official SDKs have none. */
async function startSluice(): Promise<[url: string, child: { kill(): unknown }]> {
  const serving = await startServing('node')
  return [serving.url, { kill: () => serving.close() }]
}

async function startHttp(program: string): Promise<[url: string, child: ChildProcess]> {
  const child = spawn(process.execPath, [program, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}`)))
  })
  return [url, child]
}

/** `direct`: the upstream itself, over HTTP, to see what it passes without a gateway. */
export async function serveThrough(cell: Cell, direct: boolean): Promise<Serving> {
  const [over, version] = cell.split('-')
  const program = join(import.meta.dirname, `sdk-${version}.fixture.ts`)
  const start = version === 'sluice' ? startSluice : () => startHttp(program)
  const [url, child] = over === 'http' || direct ? await start() : []
  const settings = { name: 'suite', scope: 'shared', prefix: '' } as const
  const end = async (): Promise<void> => {
    await child?.kill()
  }
  if (url && direct) return { url, close: end }
  const suite = url
    ? upstream({ ...settings, url, allowHosts: ['127.0.0.1'] })
    : upstream({ ...settings, command: process.execPath, args: [program, 'stdio'] })
  const definition = gateway({ name: 'team', version: '1.0.0', upstreams: [suite] }).endpoints['suite']
  if (!definition) throw new Error('The gateway has no endpoint for its upstream')
  const server = createServer(definition, {
    use: [
      log({ info() {}, warn() {}, error: console.error }),
      // The suite leaves questions open, all as one caller.
      park({ perCaller: 1_000, perTenant: 1_000 }),
    ],
  })
  const serving = await serveHttp(server, { port: 0 })
  return {
    url: serving.url,
    async close() {
      await serving.close()
      await end()
    },
  }
}
