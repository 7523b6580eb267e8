/**
 * Clients that request much and read nothing: what waits for them is bounded, and they are disconnected after a time.
 */

import type { Socket } from 'node:net'
import { defineServer, tool } from 'sluice'
import { createServer, serveHttp } from 'sluice/node'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { rawHttp, toPost } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor, initialize, request } from '../kit/clients/valid-messages.ts'

/** Lists of about 100 kB, and a tool that answers with a megabyte. */
async function serve() {
  const clock = fakeClock()
  let ran = 0
  const many = Array.from({ length: 100 }, (_, index) =>
    tool({ name: `tool-${index}`, description: 'x'.repeat(900), run: () => 'done' }),
  )
  const long = tool({
    name: 'long',
    description: 'A long text',
    run() {
      ran++
      return 'x'.repeat(1024 * 1024)
    },
  })
  const definition = defineServer({ name: 'long', version: '1', tools: [...many, long] })
  const serving = await serveHttp(createServer(definition, { clock }), { port: 0 })
  onTestFinished(serving.close)
  const port = Number(new URL(serving.url).port)
  const open = async () => {
    const http = await rawHttp(port)
    onTestFinished(http.destroy)
    return http
  }
  return { clock, port, open, ran: () => ran, node: serving.server }
}

test('the answer to a batch is bounded, and every message of it has an answer', async () => {
  const { open } = await serve()
  const http = await open()
  const hello = await http.post(JSON.stringify(initialize('2025-03-26')))
  const session = { 'mcp-session-id': String(hello.headers.get('mcp-session-id')) }
  const batch = Array.from({ length: 100 }, (_, id) => request(id, 'tools/list'))
  const { body } = await http.post(JSON.stringify(batch), session)
  expect(body.length).toBeLessThan(1.1 * 1024 * 1024)
  const answers = JSON.parse(body) as readonly { readonly id: number; readonly error?: object }[]
  expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
  expect(answers[0]?.error).toBeUndefined()
  expect(answers.at(-1)).toMatchObject({ error: { data: { reason: 'payloadTooLarge' } } })
})

test('requests sent ahead are served as their answers are read', async () => {
  const { port, open, ran } = await serve()
  const http = await open()
  http.socket.pause()
  const call = callOf(1, 'long')
  const ahead = 100
  http.write(Buffer.concat(Array.from({ length: ahead }, () => toPost(port, JSON.stringify(call), headersFor(call)))))
  while (ran() === 0) await new Promise(setImmediate)
  for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate)
  // As many as the kernel accepts for a client that does not read, and one.
  expect(ran()).toBeLessThan(ahead / 2)
  http.socket.resume()
  for (let answered = 0; answered < ahead; answered++) expect((await http.next()).status).toBe(200)
  expect(ran()).toBe(ahead)
})

test('a client that sends too many requests ahead is disconnected', async () => {
  const { port, open } = await serve()
  const http = await open()
  http.socket.pause()
  const call = toPost(port, JSON.stringify(callOf(1, 'long')), headersFor(callOf(1, 'long')))
  const ping = toPost(port, JSON.stringify(request(1, 'ping')))
  http.write(Buffer.concat([...Array.from({ length: 20 }, () => call), ...Array.from({ length: 600 }, () => ping)]))
  http.socket.on('error', () => {})
  http.socket.resume()
  await http.closed
  let answered = 0
  const count = async (): Promise<void> => {
    for (;;) {
      await http.next()
      answered++
    }
  }
  await expect(count()).rejects.toThrow('closed')
  expect(answered).toBeLessThan(20)
})

test('a client that does not read its answer is disconnected after a while, and one that reads slowly is not', async () => {
  const { clock, port, open: connect, ran, node } = await serve()
  const connected = new Set<Socket>()
  node.on('connection', (socket: Socket) => {
    connected.add(socket)
    socket.on('close', () => connected.delete(socket))
  })
  const call = callOf(1, 'long')
  const one = toPost(port, JSON.stringify(call), headersFor(call))
  const [stalled, slow] = [await connect(), await connect()]
  for (const http of [stalled, slow]) {
    http.socket.pause()
    http.write(Buffer.concat(Array.from({ length: 200 }, () => one)))
  }
  while (ran() < 2) await new Promise(setImmediate)
  for (let second = 0; second < 40; second++) {
    // Half an answer every second, because the kernel reports only larger steps to the other side.
    const before = slow.socket.bytesRead
    slow.socket.resume()
    while (slow.socket.bytesRead < before + 500_000 && connected.size > 0) await new Promise(setImmediate)
    slow.socket.pause()
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    await clock.advance(1_000)
  }
  expect([...connected].map(({ remotePort }) => remotePort)).toEqual([slow.socket.localPort])
})
