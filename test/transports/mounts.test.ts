/** A server mounted into another program with one line, as the official clients reach it. */

import { createServer as createNodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import express from 'express'
import { createHttpHandler } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import { callOf, headersFor } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import type { Mounted } from '../kit/servers/mounts.ts'
import { mountKinds } from '../kit/servers/mounts.ts'

describe.each(mountKinds)('$name', ({ open, sockets }) => {
  let mounted: Mounted
  beforeAll(async () => {
    mounted = await open(createAttackedServer().server, { sse: sse(), websocket: websocket() })
  })
  afterAll(() => mounted.close())

  const below = (path: string): URL => new URL(mounted.url + path)
  const socket = (): URL => new URL(`${mounted.url.replace('http', 'ws')}/ws`)

  test.each([
    ['Streamable HTTP', () => new StreamableHTTPClientTransport(new URL(mounted.url))],
    ['HTTP+SSE', () => new SSEClientTransport(below('/sse'))],
    ...(sockets ? [['WebSocket', () => new WebSocketClientTransport(socket())] as const] : []),
  ] as const)('the official client of v1 over %s', async (_, transport) => {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport() as Transport)
    onTestFinished(() => client.close())
    expect((await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).content).toEqual([
      { type: 'text', text: 'hello' },
    ])
  })

  test('the official client of 2026-07-28', async () => {
    const peer = await connectV2({ transport: 'http', url: mounted.url }, { pin: '2026-07-28' })
    onTestFinished(() => peer.close())
    expect(await peer.call('echo', { text: 'hello' })).toMatchObject({ content: [{ text: 'hello' }] })
  })
})

test('behind a body parser it refuses, and says what to do, instead of waiting for a consumed body', async () => {
  const { server, log, runs } = createAttackedServer()
  const handler = createHttpHandler(server)
  const node = createNodeServer(express().use(express.json()).use('/mcp', handler))
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    node.close()
  })
  const message = callOf(1, 'echo', { text: 'a' })
  const response = await fetch(`http://127.0.0.1:${(node.address() as AddressInfo).port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersFor(message) },
    body: JSON.stringify(message),
  })
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('express.json()') } })
  expect(response.status).toBe(400)
  expect(runs.size).toBe(0)
  expect(log.some(({ message: said }) => String(said).includes('express.json()'))).toBe(true)
})
