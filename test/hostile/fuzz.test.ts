/**
 * Hundreds of thousands of random messages through every entry point: always exactly one answer, none for
 * notifications, and never a crash, a hang, an unhandled rejection or an exception's text. Vitest fails a run that
 * leaves a rejection unhandled; fast-check prints the seed of a failure (`npm run soak -- fuzz` tries others).
 */

import fc from 'fast-check'
import type { Params, Via } from 'sluice'
import { serveHttp } from 'sluice/node'
import { expect, test } from 'vitest'
import { connect } from '../../packages/sluice/src/protocol/connect.ts'
import { pipeTo } from '../kit/clients/in-process-stdio.client.ts'
import { messagePaths } from '../kit/clients/message-paths.ts'
import type { RawResponse } from '../kit/clients/raw-http.client.ts'
import { rawHttp, toPost } from '../kit/clients/raw-http.client.ts'
import { headersFor, initialize, request } from '../kit/clients/valid-messages.ts'
import { fuzzInBatches as heaps } from '../kit/generators/message-batches.ts'
import type { Mutant } from '../kit/generators/random-messages.ts'
import {
  mutatedBytes,
  mutatedMessage,
  randomBytes,
  randomMessage,
  validMessages,
} from '../kit/generators/random-messages.ts'
import { canary, createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { bytesWantAnswer, cancelledAmong, cancelledIn, checkAnswer, readableId, wantsAnswer } from './oracle.ts'

let total = 0

async function fuzz<T>(...given: Parameters<typeof heaps<T>>): Promise<void> {
  total += await heaps(...given)
}

const long = { timeout: 300_000 }

test('the canaries are planted: every bug is reached', async () => {
  const { server, runs, log } = createAttackedServer()
  const answers = await Promise.all(validMessages.map((message) => server.handle(message)))
  for (const answer of answers) if (answer) checkAnswer(answer)
  for (const name of ['bug', 'bug-late', 'bug-output', 'bug-print']) expect(runs.get(name), name).toBeGreaterThan(0)
  for (const name of ['gated', 'bug-gate', 'scoped']) expect(runs.get(name), name).toBeUndefined()
  expect(log.filter(({ stack }) => String(stack).includes(canary)).length).toBeGreaterThan(5)
})

test('handle answers any JSON value', long, async () => {
  const { server } = createAttackedServer()
  await fuzz(60_000, randomMessage, async (messages) => {
    const answers = await Promise.all(messages.map((message) => server.handle(message)))
    for (const [index, answer] of answers.entries()) {
      const message = messages[index]
      if (!wantsAnswer(message)) {
        if (answer !== null) throw new Error(`Answered ${JSON.stringify(message)} with ${JSON.stringify(answer)}`)
        continue
      }
      checkAnswer(answer)
      if ((answer as Params)['id'] !== readableId(message))
        throw new Error(`Answered ${JSON.stringify(message)} with the wrong id`)
    }
  })
})

test('handle answers mutated valid messages', long, async () => {
  const { server } = createAttackedServer()
  await fuzz(60_000, mutatedMessage, async (messages) => {
    const answers = await Promise.all(messages.map(({ sent }) => server.handle(sent)))
    for (const [index, answer] of answers.entries()) {
      const message = messages[index]?.sent
      if (!wantsAnswer(message)) {
        if (answer !== null) throw new Error(`Answered ${JSON.stringify(message)} with ${JSON.stringify(answer)}`)
        continue
      }
      checkAnswer(answer)
      if ((answer as Params)['id'] !== readableId(message))
        throw new Error(`Answered ${JSON.stringify(message)} with the wrong id`)
    }
  })
})

test('handle answers batches of 2025-03-26 element by element', long, async () => {
  const { server } = createAttackedServer()
  const connection = connect(server, { send() {} })
  const via: Via = { transport: 'memory', peer: 'test', header: () => undefined, connection }
  await server.handle(initialize('2025-03-26'), { via })
  await fuzz(
    20_000,
    fc.oneof(
      randomMessage,
      mutatedMessage.map(({ sent }) => sent),
    ),
    async (messages) => {
      for (let from = 0; from < messages.length; from += 50) {
        // A batch with a handshake or an envelope is refused as a whole, and so is an empty one.
        const batch = messages
          .slice(from, from + 50)
          .filter((message) => !/initialize|io.modelcontextprotocol/.test(JSON.stringify(message)))
        const answer = await server.handle(batch, { via })
        if (batch.length === 0) {
          checkAnswer(answer)
          continue
        }
        const answers = (answer ?? []) as readonly object[]
        for (const each of answers) checkAnswer(each)
        const wanted = batch.filter(wantsAnswer)
        const cancelled = cancelledIn(batch)
        expect(answers.length).toBeLessThanOrEqual(wanted.length)
        expect(answers.length).toBeGreaterThanOrEqual(wanted.length - cancelled.size)
        expect(connection.inFlight.size).toBe(0)
      }
    },
  )
})

test('frame and text answer any bytes', long, async () => {
  const { server } = createAttackedServer()
  const entryPoint = await messagePaths[0]?.open(server)
  await fuzz(40_000, fc.oneof(mutatedBytes, randomBytes), async (messages) => {
    const replies = await Promise.all(messages.map(({ sent }) => entryPoint?.send(sent)))
    for (const [index, reply] of replies.entries())
      expectOneAnswer(messages[index]?.sent ?? Buffer.alloc(0), reply?.text)
  })
})

function expectOneAnswer(bytes: Buffer, text: string | undefined): void {
  if (text !== undefined) checkAnswer(JSON.parse(text), text)
  if ((text !== undefined) !== bytesWantAnswer(bytes)) throw new Error(`${bytes.toString()} was answered with ${text}`)
}

test('stdio answers any lines, each once', long, async () => {
  const { server } = createAttackedServer()
  const pipe = pipeTo(server)
  pipe.send(initialize())
  await pipe.next()
  await fuzz(40_000, fc.oneof(mutatedBytes, randomBytes), async (messages) => {
    const lines = messages.map(({ sent }) => sent)
    pipe.write(Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])))
    const received = (await pipe.settled()).filter((message) => !('method' in message))
    for (const answer of received) checkAnswer(answer)
    const wanted = lines.filter((line) => !/^[\0\t ]*\r?$/.test(line.toString('latin1')) && bytesWantAnswer(line))
    const cancelled = cancelledAmong(lines)
    if (cancelled.size === 0) expect(received).toHaveLength(wanted.length)
    expect(received.length).toBeLessThanOrEqual(wanted.length)
    expect(received.length).toBeGreaterThanOrEqual(wanted.length - cancelled.size)
  })
  pipe.end()
  await pipe.serving.closed
})

test('HTTP answers any body, each once and in order', long, async () => {
  const { server } = createAttackedServer()
  const serving = await serveHttp(server, { port: 0 })
  const port = Number(new URL(serving.url).port)
  const http = await rawHttp(port)
  const session = {
    'mcp-session-id': String((await http.post(JSON.stringify(initialize()))).headers.get('mcp-session-id')),
  }
  const headers = ({ like }: Mutant<Buffer>, index: number): { readonly [name: string]: string } =>
    index % 2 === 0 || typeof like['method'] !== 'string' ? session : headersFor(like)
  await fuzz(25_000, fc.oneof(mutatedBytes, randomBytes), async (messages) => {
    http.write(Buffer.concat(messages.map((mutant, index) => toPost(port, mutant.sent, headers(mutant, index)))))
    const cancelled = cancelledAmong(messages.map(({ sent }) => sent))
    const responses: RawResponse[] = []
    while (responses.length < messages.length) responses.push(await http.next())
    for (const [index, { status, body, headers }] of responses.entries()) {
      const sent = messages[index]?.sent ?? Buffer.alloc(0)
      const text =
        headers.get('content-type') === 'text/event-stream'
          ? body.replace(/^event: message\ndata: (.*)\n\n$/, '$1')
          : body
      if (status === 202 ? text !== '' : ![200, 400, 403, 404].includes(status))
        throw new Error(`${sent.toString()}: ${status} ${text}`)
      if (text !== '') checkAnswer(JSON.parse(text), text)
      if (cancelled.has(sent) && status === 202) continue
      // A refused notification is allowed here: the status says so, and the answer has no id.
      if (bytesWantAnswer(sent) ? text === '' : status < 400 && status !== 202)
        throw new Error(`${sent.toString()}: ${status} ${text}`)
    }
  })
  // Still alive, and still the same session.
  expect((await http.post(JSON.stringify(request(1, 'ping')), session)).status).toBe(200)
  http.destroy()
  await serving.close()
})

test('at least a hundred thousand messages were sent', () => {
  expect(total).toBeGreaterThanOrEqual(100_000)
})
