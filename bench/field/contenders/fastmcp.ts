/** FastMCP, from the packages of the tests: stateless, with answers as JSON, which is its cheapest form. */
import { importFrom } from '../../../test/kit/processes/npm-packages.ts'
import { freePort } from '../../../test/kit/processes/programs.ts'
import { reportUrl } from '../../contenders/served.ts'
import { createTools } from '../tools.ts'

interface FastMcp {
  addTool(tool: {
    readonly name: string
    readonly description: string
    readonly parameters: unknown
    execute(args: never): Promise<string>
  }): void
  start(options: object): Promise<void>
}
const { FastMCP } = await importFrom<{
  FastMCP: new (options: { readonly name: string; readonly version: string }) => FastMcp
}>('mcp-servers', 'fastmcp')

const server = new FastMCP({ name: 'shop', version: '1.0.0' })
for (const { name, description, input, run } of await createTools())
  server.addTool({ name, description, parameters: input, execute: (args) => run(args) })

const port = await freePort()
await server.start({
  transportType: 'httpStream',
  httpStream: { port, host: '127.0.0.1', stateless: true, enableJsonResponse: true },
})
reportUrl(`http://127.0.0.1:${port}/mcp`)
