/** One server twice, with the official SDK and with Sluice: the same client gets the same answers from both. */

import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { defineServer, fail, resource, tool } from 'sluice'
import { serveHttp } from 'sluice/node'
import * as z from 'zod'

const prices = new Map([['tea', 3]])

// Before
const before = new McpServer({ name: 'shop', version: '1.0.0' })
before.registerTool(
  'price',
  {
    description: 'What something costs',
    inputSchema: { item: z.string() },
    outputSchema: { euros: z.number() },
    annotations: { readOnlyHint: true },
  },
  async ({ item }) => {
    const euros = prices.get(item)
    if (euros === undefined) return { isError: true, content: [{ type: 'text', text: `Unknown item: ${item}` }] }
    return { content: [{ type: 'text', text: JSON.stringify({ euros }) }], structuredContent: { euros } }
  },
)
before.registerResource(
  'item',
  new ResourceTemplate('item://{name}', { list: undefined }),
  {},
  async (uri, { name }) => ({
    contents: [{ uri: uri.href, text: `${String(name)}: ${prices.get(String(name))}` }],
  }),
)

// After
const after = defineServer({
  name: 'shop',
  version: '1.0.0',
  tools: [
    tool({
      name: 'price',
      description: 'What something costs',
      input: z.object({ item: z.string() }),
      output: z.object({ euros: z.number() }),
      annotations: { readOnlyHint: true },
      run({ item }) {
        const euros = prices.get(item)
        if (euros === undefined) throw fail(`Unknown item: ${item}`)
        return { euros }
      },
    }),
  ],
  resources: [
    resource({
      uri: 'item://{name}',
      name: 'item',
      read: ({ name }) => `${String(name)}: ${prices.get(String(name))}`,
    }),
  ],
})

const serving = await serveHttp(after, { port: 0 })
const [near, far] = InMemoryTransport.createLinkedPair()
await before.connect(far)
const [old, next] = [new Client({ name: 'a', version: '1' }), new Client({ name: 'a', version: '1' })]
await old.connect(near)
await next.connect(new StreamableHTTPClientTransport(new URL(serving.url)))
for (const item of ['tea', 'gold']) {
  const [was, is] = await Promise.all(
    [old, next].map((client) => client.callTool({ name: 'price', arguments: { item } })),
  )
  assert.deepEqual(is?.['content'], was?.['content'])
  assert.deepEqual(is?.['structuredContent'], was?.['structuredContent'])
  assert.equal(is?.isError ?? false, was?.isError ?? false)
}
const [was, is] = await Promise.all([old, next].map((client) => client.readResource({ uri: 'item://tea' })))
assert.partialDeepStrictEqual(is, { contents: [{ uri: 'item://tea', text: 'tea: 3' }] })
assert.partialDeepStrictEqual(was, { contents: [{ uri: 'item://tea', text: 'tea: 3' }] })
await Promise.all([old.close(), next.close()])
await serving.close()
