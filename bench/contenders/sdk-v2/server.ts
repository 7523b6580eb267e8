/** The official SDK v2: a factory, because its serving entries build a server per request or connection. */
import { McpServer } from '@modelcontextprotocol/server'
import { toolShapes } from '../../lib/tools.ts'

/** Shapes are created once, outside the factory, because the SDK's work on them per request is its own cost. */
export function factory(count: number): () => McpServer {
  const shapes = toolShapes(count)
  return function build() {
    const server = new McpServer({ name: 'bench', version: '1.0.0' })
    for (const { name, description, schema } of shapes) {
      server.registerTool(name, { description, inputSchema: schema }, async ({ text }) => ({
        content: [{ type: 'text', text }],
      }))
    }
    return server
  }
}
