/** The tmcp server: one instance for all requests, Zod through its adapter. */
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { McpServer } from 'tmcp'
import { toolShapes } from '../../lib/tools.ts'

export function build() {
  const server = new McpServer(
    { name: 'bench', version: '1.0.0', description: 'bench' },
    { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
  )
  for (const { name, description, schema } of toolShapes(1)) {
    server.tool({ name, description, schema }, async ({ text }) => ({ content: [{ type: 'text', text }] }))
  }
  return server
}
