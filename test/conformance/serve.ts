/** Serves the fixture on the requested runtime. */

import { fileURLToPath } from 'node:url'
import { serveHttp } from 'sluice/node'
import { runtimes, startRuntime } from '../kit/processes/edge-runtimes.ts'
import { createFixture } from './server.fixture.ts'

export interface Serving {
  readonly url: string
  close(): Promise<void>
}

const workerOf = (runtime: string): string =>
  fileURLToPath(new URL(runtime === 'workerd' ? 'worker.workerd.ts' : 'worker.ts', import.meta.url))

export async function startServing(name: string): Promise<Serving> {
  if (name === 'node') return serveHttp(createFixture(), { port: 0 })
  const runtime = runtimes.find((known) => name === known || name === `${known}-object`)
  if (!runtime) throw new Error(`--runtime: use one of node, ${runtimes.join(', ')}`)
  const { url, close } = await startRuntime(
    runtime,
    workerOf(runtime),
    name.endsWith('-object') ? { object: 'Everything' } : {},
  )
  return { url: `${url}/mcp`, close }
}
