/** A server of the official SDK v2 as its README shows, both eras: `node sdk-v2.ts stdio|http`. */

import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'
import { announce } from './announce.ts'

function build(): McpServer {
  const server = new McpServer({ name: 'sdk-v2', version: '1.0.0' })
  server.registerTool('echo', { description: 'Repeats', inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
  server.registerTool('steps', { description: 'Reports progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken !== undefined)
      for (const progress of [1, 2, 3])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } })
    return { content: [{ type: 'text', text: 'done' }] }
  })
  const person = z.object({ name: z.string() })
  server.registerTool('ask', { description: 'Asks for a name' }, ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'who', person)
    if (answer) return { content: [{ type: 'text', text: `accept ${answer.name}` }] }
    return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who?', requestedSchema: person }) } })
  })
  server.registerTool('wait', { description: 'Waits until it is cancelled' }, async ({ mcpReq }) => {
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve))
    return { content: [] }
  })
  return server
}

if (process.argv[2] === 'stdio') serveStdio(build)
else {
  const handler = createMcpHandler(build)
  const serve = getRequestListener((request) => handler.fetch(request))
  announce(
    createServer((request, response) => {
      serve(request, response).catch(() => response.destroy())
    }),
    '/mcp',
  )
}
