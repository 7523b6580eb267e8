/** A server of mcp-lite, which has Streamable HTTP alone: with sessions, or `node mcp-lite.ts stateless`. */

import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { announce } from './announce.ts'

const server = new McpServer({
  name: 'mcp-lite',
  version: '1.0.0',
  schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
})
server.tool('echo', {
  description: 'Repeats',
  inputSchema: z.object({ text: z.string() }),
  handler: ({ text }) => ({ content: [{ type: 'text', text }] }),
})
server.tool('steps', {
  description: 'Reports progress',
  inputSchema: z.object({}),
  async handler(_args, context) {
    for (const progress of [1, 2, 3]) await context.progress?.({ progress, total: 3 })
    return { content: [{ type: 'text', text: 'done' }] }
  },
})
const transport = new StreamableHttpTransport(
  process.argv[2] === 'stateless' ? {} : { sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 100 }) },
)
const handle = transport.bind(server)
const serve = getRequestListener((request) => handle(request))
announce(
  createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  }),
  '/mcp',
)
