/** `sluice/client` over WebSocket against servers that flood and stall. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { connect, webSocketTransport } from 'sluice/client'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'

test('a message above the limit ends the connection, and nothing else', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'mcp' })
  onTestFinished(() => server.close())
  const closed = Promise.withResolvers<number>()
  server.on('connection', (socket: WebSocket) => {
    socket.on('close', closed.resolve)
    socket.on('message', () => socket.send('x'.repeat(2000)))
  })
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(connect(webSocketTransport(url, { maxMessageBytes: 1000 }), { era: 'legacy' })).rejects.toMatchObject({
    reason: 'closed',
  })
  expect(await closed.promise).toBe(1000)
})

test('a server that accepts a connection and says nothing is given up at the deadline', async () => {
  const clock = fakeClock()
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => clock.jump(60_000))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(connect(webSocketTransport(url), { clock })).rejects.toMatchObject({ reason: 'timeout' })
})
