/** Serves one tool on the sources, calls it over HTTP, and prints the files of the library that the last call ran through. */

import { request } from 'node:http'
import { Session } from 'node:inspector/promises'
import * as z from 'zod'
import { createServer, serveHttp } from '../../packages/sluice/src/node.ts'
import { log } from '../../packages/sluice/src/plugins/log.ts'
import { defineServer, tool } from '../../packages/sluice/src/root.ts'

const source = new URL('../../packages/sluice/src/', import.meta.url).href
const silent = { info() {}, warn() {}, error() {} }
const echo = tool({ name: 'echo', description: 'Echo', input: z.object({ text: z.string() }), run: ({ text }) => text })
const server = createServer(defineServer({ name: 'echo', version: '1', tools: [echo] }), { use: [log(silent)] })
const serving = await serveHttp(server, { port: 0 })

const meta = 'io.modelcontextprotocol'
const message = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'echo',
    arguments: { text: 'hello' },
    _meta: {
      [`${meta}/protocolVersion`]: '2026-07-28',
      [`${meta}/clientInfo`]: { name: 'path', version: '1' },
      [`${meta}/clientCapabilities`]: {},
    },
  },
}
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
}
const call = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(serving.url, { method: 'POST', headers }, (response) => {
      response.resume()
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      response.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(message))
  })

await call()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
await call()
const { result } = await session.post('Profiler.takePreciseCoverage')
const files = result
  .filter(({ url, functions }) => url.startsWith(source) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
  .map(({ url }) => url.slice(source.length))
await serving.close()
process.stdout.write(JSON.stringify(files.sort()))
