/** The mcp-lite server: one instance for all requests, Zod through its schema adapter. */
import { McpServer } from 'mcp-lite'
import * as z from 'zod'
import { toolShapes } from '../../lib/tools.ts'

export function build(): McpServer {
  const server = new McpServer({
    name: 'bench',
    version: '1.0.0',
    schemaAdapter: (schema) => z.toJSONSchema(schema as z.ZodType),
  })
  for (const { name, description, schema } of toolShapes(1)) {
    server.tool(name, {
      description,
      inputSchema: schema,
      handler: ({ text }) => ({ content: [{ type: 'text', text }] }),
    })
  }
  return server
}
