/** A server of FastMCP for npm, from the folder of test packages: `node fastmcp.ts stdio`, or `http <port>` (SSE beside it). */

import { importFrom } from '../../kit/processes/npm-packages.ts'

interface ToolContext {
  reportProgress(progress: { readonly progress: number; readonly total: number }): Promise<void>
}
interface FastMcp {
  addTool(tool: {
    readonly name: string
    readonly description: string
    readonly parameters?: unknown
    execute(args: { readonly text?: string }, context: ToolContext): Promise<string>
  }): void
  start(options: object): Promise<void>
}
interface Zod {
  object(shape: object): unknown
  string(): unknown
}

const { FastMCP } = await importFrom<{
  FastMCP: new (options: { readonly name: string; readonly version: string }) => FastMcp
}>('mcp-servers', 'fastmcp')
const { z } = await importFrom<{ z: Zod }>('mcp-servers', 'zod')

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' })
server.addTool({
  name: 'echo',
  description: 'Repeats',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text = '' }) => text,
})
server.addTool({
  name: 'steps',
  description: 'Reports progress',
  async execute(_args, { reportProgress }) {
    for (const progress of [1, 2, 3]) await reportProgress({ progress, total: 3 })
    return 'done'
  },
})
const [over, port] = process.argv.slice(2)
if (over === 'stdio') await server.start({ transportType: 'stdio' })
else {
  await server.start({ transportType: 'httpStream', httpStream: { port: Number(port), host: '127.0.0.1' } })
  console.log(`http://127.0.0.1:${port}/mcp`)
}
