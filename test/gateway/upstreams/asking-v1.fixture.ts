/** A server of the official SDK v1 that asks in the middle of its tools: `node asking-v1.fixture.ts stdio|http`. */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'
import { announce } from '../../interop/foreign/announce.ts'

/** How often each tag was worked on. */
const runs = new Map<string, number>()

function build(): McpServer {
  const mcp = new McpServer({ name: 'asking-v1', version: '1.0.0' })
  const { server } = mcp
  const asks = (name: string, ask: (related: { relatedRequestId: string | number }) => Promise<unknown>): unknown =>
    mcp.registerTool(
      name,
      { description: `Asks by ${name}`, inputSchema: { tag: z.string() } },
      async ({ tag }, { requestId }) => {
        const run = (runs.get(tag) ?? 0) + 1
        runs.set(tag, run)
        const answer = JSON.stringify(await ask({ relatedRequestId: requestId }))
        return { content: [{ type: 'text', text: `${answer} run ${run}` }] }
      },
    )
  const requestedSchema = {
    type: 'object' as const,
    properties: { name: { type: 'string' as const } },
    required: ['name'],
  }
  asks('form', async (related) => {
    const { action, content } = await server.elicitInput({ message: 'Who?', requestedSchema }, related)
    return [action, content]
  })
  asks('sample', async (related) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello?' } }]
    return (await server.createMessage({ messages, maxTokens: 10 }, related)).content
  })
  asks('roots', async (related) => (await server.listRoots({}, related)).roots)
  asks('twice', async (related) => {
    const first = await server.elicitInput({ message: 'Who?', requestedSchema }, related)
    const second = await server.elicitInput({ message: 'And who else?', requestedSchema }, related)
    return [first.content, second.content]
  })
  asks('together', async (related) => {
    const both = ['One?', 'Two?'].map((message) => server.elicitInput({ message, requestedSchema }, related))
    return (await Promise.all(both)).map(({ content }) => content)
  })
  return mcp
}

/** Its transport types disagree with `exactOptionalPropertyTypes`. */
type Given = Parameters<McpServer['connect']>[0]

if (process.argv[2] === 'stdio') await build().connect(new StdioServerTransport())
else {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  announce(
    createServer((request, response) => {
      const id = request.headers['mcp-session-id']
      const known = typeof id === 'string' ? sessions.get(id) : undefined
      if (typeof id === 'string' && !known) return response.writeHead(404).end()
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (session) => {
            sessions.set(session, transport)
          },
        })
      const ready = known ? Promise.resolve() : build().connect(transport as Given)
      ready.then(() => transport.handleRequest(request, response)).catch(() => response.destroy())
      return response
    }),
    '/mcp',
  )
}
