/**
 * SDK v1 as in its stateless example: Express, a server and a transport per request. JSON answers are its faster
 * option, for servers that do not stream. Without a session id generator it is stateless.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { listen } from '../served.ts'
import { build } from './server.ts'

const app = createMcpExpressApp()
app.post('/mcp', async (request: IncomingMessage & { body: unknown }, response: ServerResponse) => {
  const server = build()
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  response.on('close', () => {
    // The exchange has ended, so no client is left to report a failure to.
    Promise.all([transport.close(), server.close()]).catch(() => {})
  })
  await server.connect(transport)
  await transport.handleRequest(request, response, request.body)
})

listen(createServer(app))
