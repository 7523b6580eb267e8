/** A server of the official SDK v1 as its examples show: `node sdk-v1.ts stdio|http|json|sse`. */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'
import { announce } from './announce.ts'

export function build(): McpServer {
  const server = new McpServer({ name: 'sdk-v1', version: '1.0.0' })
  server.registerTool('echo', { description: 'Repeats', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
  server.registerTool('steps', { description: 'Reports progress' }, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken
    if (progressToken !== undefined)
      for (const progress of [1, 2, 3])
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } })
    return { content: [{ type: 'text', text: 'done' }] }
  })
  server.registerTool('ask', { description: 'Asks for a name' }, async () => {
    const { action, content } = await server.server.elicitInput({
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    })
    return { content: [{ type: 'text', text: `${action} ${String(content?.['name'])}` }] }
  })
  server.registerTool('wait', { description: 'Waits until it is cancelled' }, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { content: [] }
  })
  return server
}

/** Its transport types disagree with `exactOptionalPropertyTypes`. */
type Given = Parameters<McpServer['connect']>[0]

function serveHttp(enableJsonResponse: boolean): void {
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
          enableJsonResponse,
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

function serveSse(): void {
  const sessions = new Map<string, SSEServerTransport>()
  announce(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
      if (pathname === '/sse') {
        const transport = new SSEServerTransport('/messages', response)
        sessions.set(transport.sessionId, transport)
        build()
          .connect(transport as Given)
          .catch(() => response.destroy())
      } else {
        const transport = sessions.get(searchParams.get('sessionId') ?? '')
        const handled = transport?.handlePostMessage(request, response) ?? Promise.reject(new Error('no session'))
        handled.catch(() => response.writeHead(400).end())
      }
    }),
    '/sse',
  )
}

if (import.meta.main) {
  const [over] = process.argv.slice(2)
  if (over === 'stdio') await build().connect(new StdioServerTransport())
  else if (over === 'sse') serveSse()
  else serveHttp(over === 'json')
}
