/** A server that misbehaves: it answers the handshake well and everything else as a test says. */

import type { Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly id: number
  readonly method: string
  readonly params: { readonly [name: string]: unknown }
}

type Respond = (asked: Asked, response: ServerResponse, url: string) => void

export const answerTo = ({ id }: Asked, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result })

export function sendJson(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, resources: { subscribe: true } },
  ttlMs: 0,
  cacheScope: 'private',
}

/** Serves until the test ends. Methods that `respond` should not see are answered well. */
export async function hostileServer(respond: Respond, all = false): Promise<string> {
  const server: Server = createServer((request, response) => {
    let body = ''
    response.on('error', () => {})
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const asked = (body === '' ? { id: 0, method: request.method, params: {} } : JSON.parse(body)) as Asked
      if (asked.method === 'server/discover' && !all) return sendJson(response, answerTo(asked, discovered))
      respond(asked, response, request.url ?? '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
