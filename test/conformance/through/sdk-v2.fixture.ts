/** The suite's server on the official SDK v2, both eras: `node sdk-v2.fixture.ts stdio|http`. */

import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Params } from 'sluice'
import { announce } from '../../interop/foreign/announce.ts'
import { capabilities, createExchange, ExchangeError, methods } from './exchange.ts'

const exchange = createExchange()

function build(): Server {
  const server = new Server({ name: 'suite-v2', version: '1.0.0' }, { capabilities })
  for (const method of methods)
    server.setRequestHandler(method as 'tools/call', async (request, { mcpReq }) => {
      const envelope: Params = { ...mcpReq.envelope }
      const declared = envelope['io.modelcontextprotocol/clientCapabilities'] as Params | undefined
      const params: Params = {
        ...request.params,
        ...(mcpReq.inputResponses && { inputResponses: mcpReq.inputResponses }),
        ...(mcpReq.requestState() !== undefined && { requestState: mcpReq.requestState() }),
      }
      const context = {
        capabilities: declared ?? { ...server.getClientCapabilities() },
        notify: (about: string, details: Params) => {
          mcpReq.notify({ method: about, params: details } as never).catch(() => {})
        },
      }
      try {
        const result = await exchange.answer(method, params, context)
        if (method === 'tools/call') await announceChanges(server, params['name'])
        return result as never
      } catch (thrown) {
        if (thrown instanceof ExchangeError) throw new ProtocolError(thrown.code, thrown.message, thrown.data)
        throw thrown
      }
    })
  return server
}

async function announceChanges(server: Server, tool: unknown): Promise<void> {
  if (tool === 'test_trigger_tool_change') await server.sendToolListChanged().catch(() => {})
  if (tool === 'test_trigger_prompt_change') await server.sendPromptListChanged().catch(() => {})
}

if (process.argv[2] === 'stdio') serveStdio(build as never)
else {
  const handler = createMcpHandler(build as never)
  const serve = getRequestListener((request) => handler.fetch(request))
  announce(
    createServer((request, response) => {
      serve(request, response).catch(() => response.destroy())
    }),
    '/mcp',
  )
}
