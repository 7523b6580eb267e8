/** tmcp with its HTTP transport on `node:http` through a fetch adapter. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { HttpTransport } from '@tmcp/transport-http'
import { listen } from '../served.ts'
import { build } from './server.ts'

const transport = new HttpTransport(build(), { path: '/mcp' })
const serve = getRequestListener(
  async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }),
)
listen(
  createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  }),
)
