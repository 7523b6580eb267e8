/** mcp-lite, stateless, on `node:http` through Hono's Node adapter without Hono's router. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { listen } from '../../contenders/served.ts'
import { createTools } from '../tools.ts'

const server = new McpServer({
  name: 'shop',
  version: '1.0.0',
  schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
})
for (const { name, description, input, run } of await createTools())
  server.tool(name, {
    description,
    inputSchema: input,
    handler: async (args) => ({ content: [{ type: 'text', text: await run(args) }] }),
  })

const handle = new StreamableHttpTransport().bind(server)
const serve = getRequestListener((request) => handle(request))
listen(
  createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  }),
)
