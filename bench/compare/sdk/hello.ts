/** One tool over HTTP, for clients on this machine. The SDK builds a server for each request. */

import { createServer } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

const handle = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'hello', version: '1.0.0' })
    server.registerTool(
      'shout',
      { description: 'Says it louder', inputSchema: z.object({ text: z.string().min(1) }) },
      async ({ text }) => ({ content: [{ type: 'text', text: text.toUpperCase() }] }),
    )
    return server
  }),
)
const isLocalHost = localhostHostValidation()
const isLocalOrigin = localhostOriginValidation()

createServer((request, response) => {
  if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return
  handle(request as Parameters<typeof handle>[0], response).catch(() => response.destroy())
}).listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1')
