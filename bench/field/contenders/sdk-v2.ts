/** SDK v2 on `node:http` as its README shows, with Host and Origin guards. */
import { createServer } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { listen } from '../../contenders/served.ts'
import { createTools } from '../tools.ts'

const tools = await createTools()

function build(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  for (const { name, description, input, run } of tools)
    server.registerTool(name, { description, inputSchema: input }, async (args) => ({
      content: [{ type: 'text', text: await run(args) }],
    }))
  return server
}

const handle = toNodeHandler(createMcpHandler(build))
const validHost = localhostHostValidation()
const validOrigin = localhostOriginValidation()

listen(
  createServer((request, response) => {
    if (!validHost(request, response) || !validOrigin(request, response)) return
    // Its request type does not allow `undefined`, which Node's does.
    handle(request as Parameters<typeof handle>[0], response).catch(() => response.destroy())
  }),
)
