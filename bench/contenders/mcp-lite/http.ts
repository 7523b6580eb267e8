/** mcp-lite, stateless, on `node:http` through Hono's Node adapter without Hono's router. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { StreamableHttpTransport } from 'mcp-lite'
import { listen } from '../served.ts'
import { build } from './server.ts'

const handle = new StreamableHttpTransport().bind(build())
const serve = getRequestListener((request) => handle(request))
listen(
  createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  }),
)
