/** tmcp with its HTTP transport on `node:http` through a fetch adapter. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { HttpTransport } from '@tmcp/transport-http'
import { McpServer } from 'tmcp'
import { listen } from '../../contenders/served.ts'
import { createTools } from '../tools.ts'

const server = new McpServer(
  { name: 'shop', version: '1.0.0', description: 'shop' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
)
for (const { name, description, input, run } of await createTools())
  server.tool({ name, description, schema: input }, async (args) => ({
    content: [{ type: 'text', text: await run(args) }],
  }))

const transport = new HttpTransport(server, { path: '/mcp' })
const serve = getRequestListener(
  async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }),
)
listen(
  createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  }),
)
