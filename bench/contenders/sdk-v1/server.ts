/** The official SDK v1 server. It belongs to one connection, so stateless HTTP builds one per request. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { toolShapes } from '../../lib/tools.ts'

const shapes = toolShapes(1)

export function build(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  for (const { name, description, schema } of shapes) {
    server.registerTool(name, { description, inputSchema: schema.shape }, async ({ text }) => ({
      content: [{ type: 'text', text }],
    }))
  }
  return server
}
