/**
 * SDK v1 as its stateless example shows: Express, a server and a transport per request. JSON answers are its
 * option for servers that stream nothing, and the faster one; without a session id generator it is stateless.
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
    // Its exchange is over: there is no client left that a failure could be reported to.
    Promise.all([transport.close(), server.close()]).catch(() => {})
  })
  await server.connect(transport)
  await transport.handleRequest(request, response, request.body)
})

listen(createServer(app))
