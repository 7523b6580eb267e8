/** The suite's server on the official SDK v1, which asks by requests: `node sdk-v1.fixture.ts stdio|http`. */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { McpError, ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Params } from 'sluice'
import * as z from 'zod'
import { announce } from '../../interop/foreign/announce.ts'
import { capabilities, createExchange, ExchangeError, methods } from './exchange.ts'

const exchange = createExchange()
const servers = new Set<Server>()

function build(): Server {
  const server = new Server({ name: 'suite-v1', version: '1.0.0' }, { capabilities })
  servers.add(server)
  const requestOf = (method: string): z.ZodObject =>
    z.object({ method: z.literal(method), params: z.looseObject({}).optional() })
  for (const method of methods)
    server.setRequestHandler(requestOf(method) as never, async (request: { params?: Params }, extra) => {
      let params: Params = request.params ?? {}
      for (;;) {
        const context = {
          capabilities: { ...server.getClientCapabilities() },
          notify: (about: string, details: Params) => {
            extra.sendNotification({ method: about, params: details } as never).catch(() => {})
          },
        }
        const result = await exchange.answer(method, params, context).catch((thrown: unknown) => {
          if (thrown instanceof ExchangeError) throw new McpError(thrown.code, thrown.message, thrown.data)
          throw thrown
        })
        const { resultType, ttlMs: _ttl, cacheScope: _scope, ...rest } = result
        if (method === 'tools/call') await announceChanges(params['name'])
        if (resultType !== 'input_required') return rest
        const asked = Object.entries(result['inputRequests'] as Params)
        const answers = asked.map(async ([key, question]) => [
          key,
          await extra.sendRequest(question as never, ResultSchema),
        ])
        const inputResponses = Object.fromEntries(await Promise.all(answers)) as Params
        params = { ...params, inputResponses, requestState: result['requestState'] }
      }
    })
  for (const method of ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'])
    server.setRequestHandler(requestOf(method) as never, () => ({}))
  return server
}

async function announceChanges(tool: unknown): Promise<void> {
  const all = [...servers]
  if (tool === 'test_trigger_tool_change') await Promise.allSettled(all.map((each) => each.sendToolListChanged()))
  if (tool === 'test_trigger_prompt_change') await Promise.allSettled(all.map((each) => each.sendPromptListChanged()))
}

/** Its transport types disagree with `exactOptionalPropertyTypes`. */
type Given = Parameters<Server['connect']>[0]

if (process.argv[2] === 'stdio') await build().connect(new StdioServerTransport())
else {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  announce(
    createServer((request, response) => {
      const id = request.headers['mcp-session-id']
      const known = typeof id === 'string' ? sessions.get(id) : undefined
      if (typeof id === 'string' && !known) return response.writeHead(404).end()
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (session) => {
            sessions.set(session, transport)
          },
        })
      const ready = known ? Promise.resolve() : build().connect(transport as Given)
      ready.then(() => transport.handleRequest(request, response)).catch(() => response.destroy())
      return response
    }),
    '/mcp',
  )
}
