/** Subscriptions of clients outlive the session and the process of an upstream. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from 'sluice/client'
import { upstream } from 'sluice/gateway-node'
import { expect, onTestFinished, test } from 'vitest'
import { clientOf, eras, servedAlone, token, withTokens } from './kit.ts'
import type { Members } from './raw-upstream.ts'

const note = 'note://a'
const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { resources: { subscribe: true }, tools: {} },
  serverInfo: { name: 'old', version: '1' },
}
const lists: { readonly [method: string]: Members } = {
  'tools/list': { tools: [{ name: 'exit', inputSchema: { type: 'object' } }] },
  'resources/list': { resources: [{ uri: note, name: 'note' }] },
  'resources/templates/list': { resourceTemplates: [] },
}
const updated = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: note } }

/** A server of 2025-11-25 that loses its sessions when a test says so. */
async function forgetfulUpstream() {
  let sessions = new Map<string, ServerResponse | undefined>()
  let count = 0
  const subscribed: string[] = []
  function answer(request: IncomingMessage, response: ServerResponse, body: string): unknown {
    const session = String(request.headers['mcp-session-id'])
    const isKnown = sessions.has(session)
    if (request.method === 'GET' && isKnown) {
      sessions.set(session, response)
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    }
    const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: number; method?: string }
    const send = (result: Members, headers: Record<string, string> = {}): unknown =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'initialize') {
      const made = `s${++count}`
      sessions.set(made, undefined)
      return send(initialized, { 'mcp-session-id': made })
    }
    if (method === 'server/discover') return response.writeHead(400).end()
    if (!isKnown) return response.writeHead(404).end()
    if (id === undefined) return response.writeHead(202).end()
    if (method === 'resources/subscribe') subscribed.push(session)
    return send(lists[String(method)] ?? {})
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
    /** The sessions that subscribed, in order. */
    subscribed,
    /** Tells the sessions that the resource changed. Returns how many listen. */
    update(): number {
      const streams = [...sessions.values()].filter((stream) => stream !== undefined)
      for (const stream of streams) stream.write(`data: ${JSON.stringify(updated)}\n\n`)
      return streams.length
    },
    forget() {
      const ended = [...sessions.values()]
      sessions = new Map()
      for (const stream of ended) stream?.end()
    },
  }
}

/** Subscribes, and counts the updates. */
async function countUpdates(client: Client): Promise<{ readonly count: number }> {
  const seen = { count: 0 }
  await client.subscribe(
    { resourceSubscriptions: [note] },
    {
      notification(method) {
        if (method === 'notifications/resources/updated') seen.count++
      },
    },
  )
  return seen
}

test.each(eras)('a lost session of the upstream loses no subscription of a client of %s', async (revision) => {
  const old = await forgetfulUpstream()
  const { url } = await servedAlone(upstream({ name: 'old', scope: 'shared', url: old.url }))
  const seen = await countUpdates(await clientOf(url, { revision }))
  await expect.poll(() => old.subscribed.length).toBe(1)
  await expect.poll(() => old.update() && seen.count, { timeout: 5000 }).toBeGreaterThan(0)
  old.forget()
  await expect.poll(() => old.subscribed.length, { timeout: 10_000 }).toBe(2)
  expect(new Set(old.subscribed).size).toBe(2)
  // Changes in between were missed, so the client is told at once. Then it is told of each change again.
  const before = seen.count
  await expect.poll(() => old.update() && seen.count, { timeout: 5000 }).toBeGreaterThan(before + 1)
})

test('two tenants that share a connection both hear of a change, also after one of them has left', async () => {
  const old = await forgetfulUpstream()
  const { url } = await servedAlone(upstream({ name: 'old', scope: 'shared', url: old.url }), { use: withTokens })
  const [ann, bob] = [await clientOf(url, {}, token('acme.ann')), await clientOf(url, {}, token('other.bob'))]
  const ofAnn = await countUpdates(ann)
  await expect.poll(() => old.subscribed.length).toBe(1)
  const ofBob = await countUpdates(bob)
  await expect.poll(() => old.update() && ofAnn.count, { timeout: 5000 }).toBeGreaterThan(0)
  await expect.poll(() => old.update() && ofBob.count, { timeout: 5000 }).toBeGreaterThan(0)
  expect(old.subscribed).toHaveLength(1)
  await ann.close()
  const before = ofBob.count
  await expect.poll(() => old.update() && ofBob.count, { timeout: 5000 }).toBeGreaterThan(before)
})

/** A process of 2025-11-25. It announces an update after each subscription, and exits when its tool is called. */
const program = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const results = ${JSON.stringify({ ...lists, initialize: initialized })}
require('node:readline').createInterface(process.stdin).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method === 'tools/call') process.exit(1)
  if (method === 'server/discover') return send({ id, error: { code: -32601, message: 'Unknown' } })
  if (id !== undefined) send({ id, result: results[method] ?? {} })
  if (method === 'resources/subscribe') send(${JSON.stringify({ ...updated, jsonrpc: undefined })})
})`

test('a crash of the upstream loses no subscription: the next process gets it', async () => {
  const one = upstream({ name: 'old', scope: 'shared', command: process.execPath, args: ['-e', program] })
  const { url } = await servedAlone(one)
  const client = await clientOf(url)
  const seen = await countUpdates(client)
  await expect.poll(() => seen.count, { timeout: 5000 }).toBeGreaterThan(0)
  const before = seen.count
  expect(await client.callTool('exit')).toMatchObject({ isError: true })
  await expect.poll(() => seen.count, { timeout: 15_000 }).toBeGreaterThan(before)
})
