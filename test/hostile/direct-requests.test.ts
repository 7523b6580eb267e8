/**
 * Plain POST requests are read from the socket itself, all others by `node:http`. A client must not see which: whatever
 * bytes it sends, in whatever pieces, the answers are the same as on a connection that `node:http` reads.
 */

import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { defineServer, tool } from 'sluice'
import { createServer, serveHttp } from 'sluice/node'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { RawHttp, RawResponse } from '../kit/clients/raw-http.client.ts'
import { rawHttp } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor } from '../kit/clients/valid-messages.ts'

const definition = defineServer({
  name: 'direct',
  version: '1',
  tools: [
    tool({
      name: 'echo',
      description: 'Returns its text',
      input: z.object({ text: z.string() }),
      run: ({ text }) => text,
    }),
  ],
})
const served = await serveHttp(createServer(definition), { port: 0, hosts: ['test.example'] })
afterAll(() => served.close())
const { port } = served.server.address() as AddressInfo

/** After it the rest of a connection is read by `node:http`. */
const notPlain = Buffer.from('GET /nothing HTTP/1.1\r\nHost: test.example\r\n\r\n')

type Answer = Pick<RawResponse, 'status' | 'headers' | 'body'>

/** Opens a connection, for the reference one that `node:http` reads. */
async function open(isReference: boolean): Promise<RawHttp> {
  const http = await rawHttp(port)
  if (isReference) {
    http.write(notPlain)
    await http.next()
  }
  return http
}
async function writeIn(http: RawHttp, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    http.write(piece)
    await nextTurn()
  }
}
/** Returns the next final answer, or `undefined` if the connection ends. */
async function answerOf(http: RawHttp): Promise<Answer | undefined> {
  for (;;) {
    const answer = await http.next().catch(() => undefined)
    if (answer?.status === 100) continue
    return answer && normalized(answer)
  }
}
/** Removes what differs between any two answers: the moment, and the reference of an error. */
const normalized = ({ status, headers, body }: Answer): Answer => ({
  status,
  headers: new Map([...headers].filter(([name]) => name !== 'date' && name !== 'keep-alive').sort()),
  body: body.replace(/"reference":"[^"]+"/, ''),
})
/** Sends each request after the answer to the one before. Returns the answers until the connection ends. */
async function inTurn(requests: readonly (readonly Buffer[])[], isReference = false): Promise<readonly Answer[]> {
  const http = await open(isReference)
  const answers: Answer[] = []
  for (const pieces of requests) {
    await writeIn(http, pieces)
    const answer = await answerOf(http)
    if (!answer) break
    answers.push(answer)
  }
  http.destroy()
  return answers
}
/** Sends everything without waiting. Returns what the tool answered until the connection ends. */
async function atOnce(pieces: readonly Buffer[], isReference = false): Promise<readonly string[]> {
  const http = await open(isReference)
  await writeIn(http, pieces)
  const texts: string[] = []
  for (let answer = await answerOf(http); answer; answer = await answerOf(http))
    if (answer.status === 200) texts.push(answer.body)
  http.destroy()
  return texts
}

const call = callOf(1, 'echo', { text: 'Grüße' })
const body = Buffer.from(JSON.stringify(call))
const plain: readonly string[] = [
  'Host: test.example',
  'Content-Type: application/json',
  'Accept: application/json, text/event-stream',
  ...Object.entries(headersFor(call)).map(([name, value]) => `${name}: ${value}`),
]

/** Lines that change what a request means, or that are not allowed. */
const oddLines: readonly string[] = [
  'Host: other.example',
  'host:test.example ',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: Upgrade',
  'Proxy-Connection: close',
  'Upgrade: websocket',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding : chunked',
  'Expect: 100-continue',
  'Content-Type: text/plain',
  'Content-Length: 3',
  'Content-Length: +5',
  'X-Empty:',
  'X-Tab:\tvalue\t',
  ' folded: line',
  'no colon',
  'X-Control: a\u0001b',
  'X-Return: a\rb',
  'X-Latin: é',
  'X-Same: 1',
  'X-Same: 2',
  ': no name',
  'X(y): value',
  '__proto__: value',
  'Authorization: Bearer one',
  'Origin: https://evil.example',
]

interface Shape {
  readonly line: string
  readonly odd: readonly string[]
  readonly newline: string
  readonly body: Buffer
}
const shape: fc.Arbitrary<Shape> = fc.record({
  line: fc.oneof(
    { weight: 6, arbitrary: fc.constant('POST /mcp HTTP/1.1') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'POST /mcp?x=1 HTTP/1.1',
        'POST http://test.example/mcp HTTP/1.1',
        'POST /mcp HTTP/1.0',
        'POST  /mcp HTTP/1.1',
        'post /mcp HTTP/1.1',
        'GET /mcp HTTP/1.1',
        'POST /other HTTP/1.1',
        'POST /m\u0000cp HTTP/1.1',
        'POST * HTTP/1.1',
        '\r\nPOST /mcp HTTP/1.1',
        'POST /mcp HTTP/2.0',
      ),
    },
  ),
  odd: fc.array(fc.constantFrom(...oddLines), { maxLength: 2 }),
  newline: fc.oneof({ weight: 12, arbitrary: fc.constant('\r\n') }, fc.constantFrom('\n', '\r')),
  body: fc.oneof(
    { weight: 6, arbitrary: fc.constant(body) },
    fc.constantFrom(Buffer.from('{'), Buffer.from([0x22, 0xff, 0x22]), Buffer.from('{}'), Buffer.alloc(70_000, 32)),
  ),
})
function toBytes({ line, odd, newline, body }: Shape, extraLength = 0): Buffer {
  const length = `Content-Length: ${Math.max(0, body.length + extraLength)}`
  const head = [line, ...plain, ...odd, length, '', ''].join(newline)
  return Buffer.concat([Buffer.from(head, 'latin1'), body])
}
/** After it the server closes, so that every exchange ends. */
const last = toBytes({ line: 'POST /mcp HTTP/1.1', odd: ['Connection: close'], newline: '\r\n', body })

const cuts = fc.array(fc.nat(), { maxLength: 3 })
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const at = [...new Set([0, ...places.map((place) => place % bytes.length), bytes.length])].sort((a, b) => a - b)
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

describe('a connection', () => {
  test('whatever is sent in whatever pieces, the answers are those of node:http', async () => {
    const seen = new Set<number>()
    const request = fc.tuple(shape, cuts).map(([each, places]) => cut(toBytes(each), places))
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (requests) => {
        const [direct, expected] = await Promise.all([inTurn(requests), inTurn(requests, true)])
        expect(direct).toEqual(expected)
        for (const { status } of direct) seen.add(status)
      }),
      { numRuns: 500 },
    )
    // The cases reach the tool, the refusals of this library, and those of the parser.
    expect([...seen]).toEqual(expect.arrayContaining([200, 400, 403, 404, 415]))
  })

  test('no bytes of one request are taken for another, whatever lengths are claimed', async () => {
    const request = fc.tuple(shape, fc.integer({ min: -9, max: 9 })).map(([each, extra]) => toBytes(each, extra))
    const requests = fc.array(request, { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(requests, cuts, async (each, places) => {
        const pieces = cut(Buffer.concat([...each, last]), places)
        const [direct, expected] = await Promise.all([atOnce(pieces), atOnce(pieces, true)])
        // When the parser fails, it depends on the moment whether an earlier answer has left.
        const both = Math.min(direct.length, expected.length)
        expect(direct.slice(0, both)).toEqual(expected.slice(0, both))
        expect(direct.length).toBeLessThanOrEqual(each.length + 1)
      }),
      { numRuns: 300 },
    )
  })

  test('a plain request is not passed to node:http, and its connection serves the next one', async () => {
    let parsed = 0
    const count = (): number => ++parsed
    served.server.on('request', count)
    const url = `http://127.0.0.1:${port}/mcp`
    const headers = { 'content-type': 'application/json', ...headersFor(call) }
    for (let index = 0; index < 3; index++) {
      const answer = await fetch(url, { method: 'POST', headers, body })
      expect(await answer.json()).toMatchObject({ result: { content: [{ text: 'Grüße' }] } })
    }
    served.server.off('request', count)
    expect(parsed).toBe(0)
  })
})
