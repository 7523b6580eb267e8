/** What fails is tried again only if it certainly did not run, and no failure is for ever. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ClientError } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import { upstream } from 'sluice/gateway'
import { expect, onTestFinished, test } from 'vitest'
import { clientOf, eras, servedAlone } from './kit.ts'
import type { Members } from './raw-upstream.ts'
import { rawTool, rawUpstream, textResult } from './raw-upstream.ts'

const calls = (requests: readonly { readonly method: string }[]): number =>
  requests.filter(({ method }) => method === 'tools/call').length
const reasonOf = ({ _meta }: Members): unknown => (_meta as Members | undefined)?.['dev.sluice/error']

/** A server of 2025-11-25 whose sessions a test can end. */
async function sessionUpstream(): Promise<{ readonly url: string; readonly ran: string[]; forget(): void }> {
  let sessions = new Set<string>()
  const ran: string[] = []
  function answer(request: IncomingMessage, response: ServerResponse, body: string): unknown {
    const session = request.headers['mcp-session-id']
    if (body === '') return response.writeHead(405).end()
    const { id, method } = JSON.parse(body) as { id?: number; method: string }
    const send = (result: Members, headers: Record<string, string> = {}): unknown =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'initialize') {
      const made = `s${sessions.size}-${Math.random()}`
      sessions.add(made)
      const serverInfo = { name: 'old', version: '1' }
      return send(
        { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
        { 'mcp-session-id': made },
      )
    }
    if (method === 'server/discover') return response.writeHead(400).end()
    if (typeof session !== 'string' || !sessions.has(session)) return response.writeHead(404).end()
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'tools/list') return send({ tools: [rawTool('echo')] })
    ran.push(session)
    return send(textResult('ran'))
  }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => answer(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    ran,
    forget() {
      sessions = new Set()
    },
  }
}

test.each(eras)('a lost session is opened again, and the call runs once, for a client of %s', async (revision) => {
  const { url: address, ran, forget } = await sessionUpstream()
  const { url } = await servedAlone(upstream({ name: 'old', scope: 'shared', url: address }))
  const client = await clientOf(url, { revision })
  expect(await client.callTool('echo')).toMatchObject({ content: [{ text: 'ran' }] })
  forget()
  expect(await client.callTool('echo')).toMatchObject({ content: [{ text: 'ran' }] })
  forget()
  expect(await client.callTool('echo')).toMatchObject({ content: [{ text: 'ran' }] })
  expect(new Set(ran).size).toBe(3)
  expect(ran).toHaveLength(3)
})

test('a refused token is renewed once, and the call runs once', async () => {
  const raw = await rawUpstream()
  let token = 'old'
  const challenged: string[] = []
  raw.respond = ({ headers }, response) => {
    if (headers.authorization === 'Bearer new') return textResult('ran')
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    return undefined
  }
  const authorization = {
    token: () => `Bearer ${token}`,
    challenged: ({ refused = '' }: { readonly refused: string | undefined }) => {
      challenged.push(refused)
      token = 'new'
      return Promise.resolve(true)
    },
  }
  const { url } = await servedAlone(upstream({ name: 'raw', scope: 'shared', url: raw.url, authorization }))
  expect(await (await clientOf(url)).callTool('echo')).toMatchObject({ content: [{ text: 'ran' }] })
  expect(challenged).toEqual(['Bearer old'])
  expect(calls(raw.requests)).toBe(2)
})

test('a connection that fails before anything was sent is tried once more', async () => {
  const raw = await rawUpstream()
  const sender = createNodeSender()
  onTestFinished(() => sender.close())
  let failing = 0
  let tried = 0
  const { url } = await servedAlone(
    upstream({
      ...{ name: 'raw', scope: 'shared', url: raw.url },
      sender(request) {
        if (!request.body?.includes('"tools/call"')) return sender.send(request)
        tried++
        if (failing-- <= 0) return sender.send(request)
        const error = new ClientError('unreachable', 'refused', { mayHaveRun: false })
        return { response: Promise.reject(error), abort() {} }
      },
    }),
  )
  const client = await clientOf(url)
  failing = 1
  expect(await client.callTool('echo', { a: 1 })).toMatchObject({ content: [{ text: '{"a":1}' }] })
  expect(tried).toBe(2)
  failing = 2
  tried = 0
  expect(reasonOf(await client.callTool('echo'))).toMatchObject({ reason: 'upstreamUnavailable', mayHaveRun: false })
  expect(tried).toBe(2)
})

test.each([
  ['closes the connection', 0],
  ['answers with 502', 502],
])('a call is in doubt and not repeated if the upstream %s after it got it', async (_, status) => {
  const raw = await rawUpstream()
  raw.respond = (__, response) => {
    if (status === 0) response.socket?.destroy()
    else response.writeHead(status).end('Bad gateway')
    return undefined
  }
  const { url } = await servedAlone(upstream({ name: 'raw', scope: 'shared', url: raw.url }))
  const client = await clientOf(url)
  expect(reasonOf(await client.callTool('echo'))).toMatchObject({ reason: 'upstreamInDoubt', mayHaveRun: true })
  expect(calls(raw.requests)).toBe(1)
  raw.respond = () => textResult('back')
  expect(await client.callTool('echo')).toMatchObject({ content: [{ text: 'back' }] })
})

test('a restart of an upstream is survived', async () => {
  const raw = await rawUpstream()
  const { upstream: onNode } = await import('sluice/gateway-node')
  const { url } = await servedAlone(onNode({ name: 'raw', scope: 'shared', url: raw.url }))
  const client = await clientOf(url)
  await client.callTool('echo')
  await raw.stop()
  expect(reasonOf(await client.callTool('echo'))).toMatchObject({ reason: expect.stringMatching(/^upstream/) })
  await raw.start()
  expect(await client.callTool('echo', { b: 2 })).toMatchObject({ content: [{ text: '{"b":2}' }] })
})
