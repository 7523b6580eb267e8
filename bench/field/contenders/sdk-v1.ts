/** SDK v1 as the published Node server: Express, and a server and a transport per request, without sessions. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { listen } from '../../contenders/served.ts'
import { createTools } from '../tools.ts'

const tools = await createTools()

function build(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  for (const { name, description, input, run } of tools)
    server.registerTool(name, { description, inputSchema: input.shape }, async (args) => ({
      content: [{ type: 'text', text: await run(args) }],
    }))
  return server
}

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
