/** FastMCP over stdio, from the packages of the tests. */
import { importFrom } from '../../test/kit/processes/npm-packages.ts'
import { toolShapes } from '../lib/tools.ts'

interface FastMcp {
  addTool(tool: {
    readonly name: string
    readonly description: string
    readonly parameters: unknown
    execute(args: { readonly text: string }): Promise<string>
  }): void
  start(options: object): Promise<void>
}
const { FastMCP } = await importFrom<{
  FastMCP: new (options: { readonly name: string; readonly version: string }) => FastMcp
}>('mcp-servers', 'fastmcp')

const server = new FastMCP({ name: 'bench', version: '1.0.0' })
for (const { name, description, schema } of toolShapes(1))
  server.addTool({ name, description, parameters: schema, execute: async ({ text }) => text })
await server.start({ transportType: 'stdio' })
