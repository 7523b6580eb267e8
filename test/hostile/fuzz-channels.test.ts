/**
 * Random bytes on channels that all answers of a client share, in batches of messages; and on every path, one after the
 * other. Each is answered exactly once, a notification never, and no answer contains an exception's text.
 */

import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import type { Params, Server } from 'sluice'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { describe, expect, test } from 'vitest'
import { messagePaths } from '../kit/clients/message-paths.ts'
import { rawHttp, toPost } from '../kit/clients/raw-http.client.ts'
import { openEventStream, openSocket } from '../kit/clients/streaming.client.ts'
import { callOf, initialize, request } from '../kit/clients/valid-messages.ts'
import { fuzzInBatches } from '../kit/generators/message-batches.ts'
import type { Mutant } from '../kit/generators/random-messages.ts'
import { mutatedBytes, randomBytes } from '../kit/generators/random-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { serveEdgeSockets } from '../kit/servers/edge-websockets.fixture.ts'
import { bytesWantAnswer, cancelledAmong, checkAnswer } from './oracle.ts'

const anyBytes = fc.oneof(mutatedBytes, randomBytes)
const long = { timeout: 300_000 }

interface Channel {
  /** Sends all at once. Resolves with those that the channel must answer, if any. */
  send(messages: readonly Buffer[]): Promise<readonly Buffer[]>
  /** Returns the next received message. */
  next(): Promise<Params>
  close(): Promise<void>
}

/** Messages are posted on one connection without waiting for answers. */
async function openSse(server: Server): Promise<Channel> {
  const serving = await serveHttp(server, { port: 0, sse: sse() })
  const { origin, port } = new URL(serving.url)
  const stream = await openEventStream(`${origin}/sse`)
  const endpoint = await stream.endpoint
  const http = await rawHttp(Number(port))
  return {
    async send(messages) {
      http.write(Buffer.concat(messages.map((bytes) => toPost(Number(port), bytes, {}, endpoint))))
      const taken: Buffer[] = []
      for (const bytes of messages) {
        const { status, body } = await http.next()
        if (status === 202) taken.push(bytes)
        // Refused in its POST, which is its one answer.
        else checkAnswer(JSON.parse(body), body)
      }
      return taken
    },
    next: stream.next,
    async close() {
      stream.close()
      http.destroy()
      await serving.close()
    },
  }
}

async function overSocket(url: string, close: () => Promise<void>): Promise<Channel> {
  const { ws, next, closed } = await openSocket(url)
  // Text must never close it.
  const broken = closed.then(({ closed: code }): never => {
    throw new Error(`The socket was closed with ${code}`)
  })
  broken.catch(() => {})
  return {
    async send(messages) {
      const texts = messages.filter(isUtf8)
      for (const text of texts) ws.send(text, { binary: false })
      return texts
    },
    next: () => Promise.race([next(), broken]),
    async close() {
      ws.terminate()
      await close()
    },
  }
}

const channels: readonly (readonly [name: string, open: (server: Server) => Promise<Channel>])[] = [
  ['HTTP+SSE', openSse],
  [
    'WebSocket',
    async (server) => {
      const { url, close } = await serveHttp(server, { port: 0, websocket: websocket() })
      return overSocket(`ws://127.0.0.1:${new URL(url).port}/ws`, close)
    },
  ],
  [
    'WebSocket on the edge',
    async (server) => {
      const { port, close } = await serveEdgeSockets(server)
      return overSocket(`ws://127.0.0.1:${port}/ws`, close)
    },
  ],
]

let barriers = 0
/** Returns everything received once nothing is in flight any more. */
async function settled(channel: Channel): Promise<readonly Params[]> {
  const heard: Params[] = []
  for (;;) {
    const id = `barrier ${++barriers}`
    await channel.send([Buffer.from(JSON.stringify(request(id, 'tools/call', { name: 'barrier', arguments: {} })))])
    let message = await channel.next()
    for (; message['id'] !== id; message = await channel.next()) if (!('method' in message)) heard.push(message)
    // It may be the one message too many.
    if ('result' in message) return heard
  }
}

test.each(channels)('%s answers any messages, each once', long, async (_, open) => {
  const channel = await open(createAttackedServer().server)
  await channel.send([Buffer.from(JSON.stringify(initialize()))])
  await settled(channel)
  const total = await fuzzInBatches(15_000, anyBytes, async (messages) => {
    const taken = await channel.send(messages.map(({ sent }) => sent))
    const heard = await settled(channel)
    for (const answer of heard) checkAnswer(answer)
    const wanted = taken.filter(bytesWantAnswer).length
    expect(heard.length).toBeLessThanOrEqual(wanted)
    expect(heard.length).toBeGreaterThanOrEqual(wanted - cancelledAmong(taken).size)
  })
  expect(total).toBeGreaterThan(10_000)
  await channel.close()
})

describe('one after the other, on every path', () => {
  test.each(messagePaths)('$name', long, async ({ open, lineDelimited }) => {
    const entryPoint = await open(createAttackedServer().server)
    const checkReply = async ({ sent, like }: Mutant<Buffer>): Promise<void> => {
      const { text, status = 200, closed } = await entryPoint.send(sent, like)
      if (closed !== undefined) return expect([closed, isUtf8(sent)]).toEqual([1007, false])
      if (text !== undefined) checkAnswer(JSON.parse(text), text)
      const isEmpty = lineDelimited && /^[\0\t ]*\r?$/.test(sent.toString('latin1'))
      const wanted = bytesWantAnswer(sent) && !isEmpty
      // A refused notification is allowed if a status says so.
      if ((text !== undefined) !== wanted && status < 400)
        throw new Error(`${sent.toString()} was answered with ${status} ${text}`)
    }
    await fuzzInBatches(500, anyBytes, async (messages) => {
      for (const message of messages) await checkReply(message)
    })
    const honest = callOf(1, 'echo', { text: 'still there' })
    expect((await entryPoint.send(Buffer.from(JSON.stringify(honest)), honest)).text).toContain('still there')
    await entryPoint.close()
  })
})
