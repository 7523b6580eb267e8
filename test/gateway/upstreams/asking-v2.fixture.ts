/** A server of the official SDK v2 whose tools ask, both eras: `node asking-v2.fixture.ts stdio|http`. */

import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'
import { announce } from '../../interop/foreign/announce.ts'

/** How often the work of each tag was done. The rounds before it only ask. */
const runs = new Map<string, number>()
const person = z.object({ name: z.string() })

type Requests = Parameters<typeof inputRequired>[0]['inputRequests']

function build(): McpServer {
  const server = new McpServer({ name: 'asking-v2', version: '1.0.0' })
  const asks = (
    name: string,
    requests: NonNullable<Requests>,
    text: (answers: Record<string, never>) => unknown,
  ): unknown =>
    server.registerTool(
      name,
      { description: `Asks by ${name}`, inputSchema: z.object({ tag: z.string() }) },
      ({ tag }, { mcpReq }) => {
        const answers = (mcpReq.inputResponses ?? {}) as Record<string, never>
        if (Object.keys(requests).some((key) => !(key in answers))) return inputRequired({ inputRequests: requests })
        const run = (runs.get(tag) ?? 0) + 1
        runs.set(tag, run)
        return { content: [{ type: 'text', text: `${JSON.stringify(text(answers))} run ${run}` }] }
      },
    )
  const elicit = (message: string): NonNullable<Requests>[string] =>
    inputRequired.elicit({ message, requestedSchema: person })
  asks('form', { who: elicit('Who?') }, ({ who }: Record<string, { action: string; content: unknown }>) => [
    who?.action,
    who?.content,
  ])
  asks(
    'sample',
    {
      model: inputRequired.createMessage({
        messages: [{ role: 'user', content: { type: 'text', text: 'Hello?' } }],
        maxTokens: 10,
      }),
    },
    ({ model }: Record<string, { content: unknown }>) => model?.content,
  )
  asks(
    'roots',
    { folders: inputRequired.listRoots() },
    ({ folders }: Record<string, { roots: unknown }>) => folders?.roots,
  )
  asks(
    'together',
    { one: elicit('One?'), two: elicit('Two?') },
    ({ one, two }: Record<string, { content: unknown }>) => [one?.content, two?.content],
  )
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
