/** An upstream of 2026-07-28 made by hand: it lists what a test says, and answers, lies, stalls and dies as a test says. */

import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type Members = { readonly [member: string]: unknown }
export interface RawRequest {
  readonly id: number
  readonly method: string
  readonly params: Members
  readonly headers: IncomingHttpHeaders
}
/** Answers a request itself, or returns the result. */
export type RawRespond = (request: RawRequest, response: ServerResponse) => Members | undefined

export interface RawUpstream {
  readonly url: string
  /** All requests so far. */
  readonly requests: readonly RawRequest[]
  /** The lists, which a test may change. */
  lists: { tools: Members[]; prompts: Members[]; resources: Members[]; resourceTemplates: Members[] }
  respond: RawRespond
  /** Answers a list itself if it returns true. */
  respondToList?: (request: RawRequest, response: ServerResponse) => boolean
  /** Announces changed lists to whoever listens, `times` times. */
  announce(kind?: string, times?: number): void
  /** Number of open subscriptions. */
  readonly listening: number
  stop(): Promise<void>
  start(): Promise<void>
}

export const rawTool = (name: string, more: Members = {}): Members => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object' },
  ...more,
})

export const sendJson = (response: ServerResponse, message: unknown, status = 200): unknown =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(message))

export const textResult = (text: string, more: Members = {}): Members => ({
  resultType: 'complete',
  content: [{ type: 'text', text }],
  ...more,
})

export async function rawUpstream(
  given: Partial<RawUpstream['lists']> = {},
  discovered: Members = {},
): Promise<RawUpstream> {
  const requests: RawRequest[] = []
  const streams = new Map<ServerResponse, number>()
  let port = 0
  let server: Server | undefined
  const raw: RawUpstream = {
    get url() {
      return `http://127.0.0.1:${port}/mcp`
    },
    requests,
    lists: { tools: [rawTool('echo')], prompts: [], resources: [], resourceTemplates: [], ...given },
    respond: ({ params }) => textResult(JSON.stringify(params['arguments'] ?? {})),
    announce(kind = 'tools', times = 1) {
      for (const [response, id] of streams)
        for (let i = 0; i < times; i++) event(response, `notifications/${kind}/list_changed`, id)
    },
    get listening() {
      return streams.size
    },
    async stop() {
      const closing = server
      server = undefined
      closing?.closeAllConnections()
      await new Promise<void>((resolve) => (closing ? closing.close(() => resolve()) : resolve()))
    },
    start,
  }

  function event(response: ServerResponse, method: string, id: number, params: Members = {}): void {
    const message = {
      jsonrpc: '2.0',
      method,
      params: { ...params, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
    }
    response.write(`data: ${JSON.stringify(message)}\n\n`)
  }

  function answer(request: RawRequest, response: ServerResponse): void {
    const { id, method, params } = request
    const result = (members: Members): unknown => sendJson(response, { jsonrpc: '2.0', id, result: members })
    if (method === 'server/discover')
      result({
        ...{ resultType: 'complete', supportedVersions: ['2026-07-28'], ttlMs: 0, cacheScope: 'private' },
        capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true }, completions: {} },
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'raw', version: '9.9.9' } },
        ...discovered,
      })
    else if (method === 'subscriptions/listen') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      event(response, 'notifications/subscriptions/acknowledged', id, {
        notifications: (params['notifications'] as Members) ?? {},
      })
      streams.set(response, id)
      response.on('close', () => streams.delete(response))
    } else {
      const list = /^(tools|prompts|resources|resources\/templates)\/list$/.exec(method)?.[1]
      if (list !== undefined) {
        const member =
          list === 'resources/templates' ? 'resourceTemplates' : (list as 'tools' | 'prompts' | 'resources')
        const answered = raw.respondToList?.(request, response)
        if (answered !== true)
          result({ resultType: 'complete', [member]: raw.lists[member], ttlMs: 0, cacheScope: 'public' })
      } else {
        const members = raw.respond(request, response)
        if (members) result(members)
      }
    }
  }

  async function start(): Promise<void> {
    server = createServer((incoming, response) => {
      let body = ''
      response.on('error', () => {})
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      incoming.on('end', () => {
        if (body === '') return response.writeHead(405).end()
        const request = { ...(JSON.parse(body) as RawRequest), headers: incoming.headers }
        requests.push(request)
        return answer(request, response)
      })
    })
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  await start()
  onTestFinished(() => raw.stop())
  return raw
}
