/** LangChain's MCP adapter, which many agents use: it finds every tool and reads every resource. */

import { fileURLToPath } from 'node:url'
import type { HttpServing } from 'sluice/node'
import { serveHttp } from 'sluice/node'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { importFrom } from '../kit/processes/npm-packages.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

/** What this test uses of `@langchain/mcp-adapters`. */
interface Adapter {
  readonly MultiServerMCPClient: new (config: object) => Client
}
interface Client {
  getTools(): Promise<readonly { readonly name: string; invoke(input: object): Promise<unknown> }[]>
  listResources(): Promise<{ readonly [server: string]: readonly { readonly uri: string; readonly name: string }[] }>
  listResourceTemplates(): Promise<{ readonly [server: string]: readonly { readonly uriTemplate: string }[] }>
  readResource(server: string, uri: string): Promise<readonly { readonly uri: string; readonly text?: string }[]>
  close(): Promise<void>
}

/** The default. The adapter reads only the first page, so every source must be on it. */
const pageSize = 500

let serving: HttpServing
let adapter: Adapter
beforeAll(async () => {
  adapter = await importFrom<Adapter>('langchain', '@langchain/mcp-adapters')
  serving = await serveHttp(createEverything({ pageSize }), { port: 0 })
})
afterAll(() => serving.close())

const program = fileURLToPath(new URL('../kit/servers/everything.fixture.ts', import.meta.url))
const transports = {
  http: () => ({ transport: 'http', url: serving.url }),
  stdio: () => ({
    transport: 'stdio',
    command: process.execPath,
    args: [program, '--stdio', `--page-size=${pageSize}`],
  }),
}

describe.each(Object.entries(transports))('over %s', (_, connection) => {
  function connect(): Client {
    const client = new adapter.MultiServerMCPClient({ mcpServers: { everything: connection() } })
    onTestFinished(() => client.close())
    return client
  }

  test('it finds the tools and calls one', async () => {
    const tools = await connect().getTools()
    const weather = tools.find(({ name }) => name.endsWith('weather'))
    expect(JSON.stringify(await weather?.invoke({ city: 'Oslo' }))).toContain('21.5')
  })

  test('it lists the resources of every source and reads each of them', async () => {
    const client = connect()
    const { everything = [] } = await client.listResources()
    const uris = everything.map(({ uri }) => uri)
    expect(uris).toEqual(expect.arrayContaining(['note://text', 'note://bytes', 'note://2026/world']))
    // One does not exist any more; the other asks a question, which the adapter cannot answer.
    const readable = uris.filter((uri) => !['note://gone', 'note://locked'].includes(uri))
    for (const uri of readable) expect((await client.readResource('everything', uri))[0]?.uri).toBe(uri)
  })
})
