/** Other needs of a gateway besides speed, tried against a server that sends more than the protocol knows. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { connect, httpTransport } from 'sluice/client'
import type { Table } from './figures.ts'

const tool = {
  name: 'a',
  description: 'd',
  futureField: 1,
  annotations: { futureHint: true },
  inputSchema: { type: 'object' },
}
const text = { type: 'text', text: 'hi', futureField: 1 }
const answers: { readonly [name: string]: object } = {
  fields: { resultType: 'complete', content: [text], futureField: { a: 1 }, _meta: { 'x/y': 1 } },
  block: { resultType: 'complete', content: [{ type: 'hologram', data: 'x' }] },
  kind: { resultType: 'input_required', inputRequests: { q: { method: 'roots/list' } }, requestState: 's' },
}
const discovered = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }
const hints = { ttlMs: 0, cacheScope: 'private' }
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

interface Facts {
  readonly 'unknown fields of a tool': boolean
  readonly 'unknown fields of a result': boolean
  readonly 'unknown content': boolean
  readonly 'input_required as it is': boolean
  readonly 'capabilities per request': boolean
}

interface Asked {
  list(): Promise<unknown>
  call(name: string, capabilities?: object): Promise<unknown>
}

export async function factsOf(): Promise<{ readonly table: Table; readonly figures: object }> {
  let capabilities: unknown
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const { id, method, params } = JSON.parse(body) as {
        id: number
        method: string
        params: { name: string; _meta: { [key: string]: unknown } }
      }
      capabilities = params._meta[capabilitiesKey]
      const list = { resultType: 'complete', tools: [tool], ...hints }
      const result =
        method === 'server/discover'
          ? { ...discovered, ...hints }
          : method === 'tools/list'
            ? list
            : answers[params.name]
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  async function facts({ list, call }: Asked): Promise<Facts> {
    const kept = async (name: string): Promise<boolean> =>
      isDeepStrictEqual(await call(name).catch(() => undefined), answers[name])
    const { tools } = (await list()) as { tools: readonly unknown[] }
    await call('fields', { roots: {} }).catch(() => undefined)
    return {
      'capabilities per request': isDeepStrictEqual(capabilities, { roots: {} }),
      'unknown fields of a tool': isDeepStrictEqual(tools[0], tool),
      'unknown fields of a result': await kept('fields'),
      'unknown content': await kept('block'),
      'input_required as it is': await kept('kind'),
    }
  }
  try {
    const ours = await connect(httpTransport(url))
    const theirs = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await theirs.connect(new StreamableHTTPClientTransport(new URL(url)))
    const figures = {
      sluice: await facts({
        list: () => ours.request('tools/list'),
        call: (name, declared) =>
          ours.request(
            'tools/call',
            { name },
            { inputRequired: 'return', ...(declared && { capabilities: { ...declared } }) },
          ),
      }),
      'sdk-v2': await facts({
        list: () => theirs.listTools(),
        call: (name, declared) =>
          theirs.callTool(
            { name, ...(declared && { _meta: { [capabilitiesKey]: declared } }) },
            { allowInputRequired: true },
          ),
      }),
    }
    await Promise.all([ours.close(), theirs.close()])
    const columns = Object.keys(figures.sluice) as (keyof Facts)[]
    const rows = Object.entries(figures).map(([name, found]) => [
      name,
      ...columns.map((fact) => (found[fact] ? 'yes' : 'no')),
    ])
    return { figures, table: { title: 'client: what is kept', columns: ['', ...columns], rows } }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
