/**
 * The ways a message reaches a server: `handle`, Streamable HTTP and stdio. A scenario is written once and held against
 * all of them, because a user may rely on it through any.
 *
 * `handle` takes the message as it is; over HTTP and stdio a legacy client shakes hands first, as clients do.
 */

import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Server } from 'sluice'
import { serveHttp, serveStdio } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'

export type Json = { readonly [name: string]: unknown }

/** A response as it stands on the wire, without `id` where none could be read. */
export interface Answered {
  readonly jsonrpc: string
  readonly id?: string | number
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string; readonly data: Json }
}

/** One message in; its answer, or `null` where none comes. */
export type Send = (message: unknown) => Promise<Answered | null>

/** Text as it is, or a message that becomes JSON. */
type Said = string | Json

const toText = (said: Said): string => (typeof said === 'string' ? said : JSON.stringify(said))

/** What the handshake asks for; `null` leaves it out, for the messages that come before. */
type Handshake = string | null

interface Door {
  readonly name: string
  open(server: Server, handshake: Handshake): Promise<Send>
}

export const aRequest = (method: string, params?: unknown, id: unknown = 1): Json =>
  params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params }

export const aCallOf = (name: string, args: Json = {}, id: unknown = 1): Json =>
  aRequest('tools/call', { name, arguments: args }, id)

const hello = (protocolVersion: string): Json =>
  aRequest(
    'initialize',
    { protocolVersion, capabilities: {}, clientInfo: { name: 'a-client', version: '1.0.0' } },
    'hello',
  )
const ready: Json = { jsonrpc: '2.0', method: 'notifications/initialized' }

const throughHandle: Door = {
  name: 'through handle',
  open: async (server) => async (message) => (await server.handle(message)) as Answered | null,
}

const throughHttp: Door = {
  name: 'over HTTP',
  async open(server, handshake) {
    const { post } = await openHttp(server, handshake)
    return async (message) => (await post(jsonOf(message))).answer
  },
}

/** A conversation per message: it ends before the answer is taken, so an answer too many cannot hide behind it. */
const throughStdio: Door = {
  name: 'over stdio',
  open: async (server, handshake) => async (message) => {
    const answers = await overStdio(server, [jsonOf(message)], handshake)
    expect(answers.length).toBeLessThan(2)
    return answers[0] ?? null
  },
}

/** Also of what is no object. */
const jsonOf = (message: unknown): string => JSON.stringify(message)

const newest = '2025-11-25'

/** Makes three tests of one, a door each. `check` gets a fresh server each time. */
type OverEveryDoor = (sentence: string, make: () => Server, check: (send: Send) => Promise<void>) => void

export const doorsAfter =
  (handshake: Handshake): OverEveryDoor =>
  (sentence, make, check) => {
    for (const door of [throughHandle, throughHttp, throughStdio])
      test(`${sentence}, ${door.name}`, async () => {
        const server = make()
        onTestFinished(() => server.close())
        await check(await door.open(server, handshake))
      })
  }

export const overEveryDoor: OverEveryDoor = doorsAfter(newest)

/** Says everything after the handshake, closes its end, and returns every line that came back, in order. */
export async function overStdio(
  server: Server,
  lines: readonly Said[],
  handshake: Handshake = newest,
): Promise<readonly Answered[]> {
  const { say, heard, end } = await openStdio(server, handshake)
  for (const line of lines) say(line)
  await end()
  return heard
}

interface StdioTalk {
  readonly input: PassThrough
  /** One line. */
  say(said: Said): void
  /** What came back so far, the answer to the handshake left out. */
  readonly heard: readonly Answered[]
  /** The next line; the test runner's own limit ends a wait in vain. */
  next(): Promise<Answered>
  /** Closes the client's end and waits until the server has said everything. */
  end(): Promise<void>
}

export async function openStdio(server: Server, handshake: Handshake = newest): Promise<StdioTalk> {
  const input = new PassThrough()
  const output = new PassThrough()
  const { closed } = serveStdio(server, { input, output })
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const heard: Answered[] = []
  const next = async (): Promise<Answered> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The server said no more')
    heard.push(JSON.parse(value))
    return JSON.parse(value)
  }
  const say = (said: Said): void => {
    input.write(`${toText(said)}\n`)
  }
  if (handshake !== null) {
    say(hello(handshake))
    expect(await next()).toMatchObject({ id: 'hello', result: { protocolVersion: handshake } })
    heard.length = 0
    say(ready)
  }
  return {
    input,
    say,
    heard,
    next,
    async end() {
      input.end()
      await closed
      output.end()
      for await (const line of lines) heard.push(JSON.parse(line))
    },
  }
}

interface Posted {
  readonly status: number
  readonly answer: Answered | null
  /** The session that the response opened. */
  readonly session: string | undefined
}
interface HttpTalk {
  /** In the session. */
  post(said: Said, headers?: Readonly<Record<string, string>>): Promise<Posted>
}

/** Real requests on a free port; the server ends with the test. */
export async function openHttp(server: Server, handshake: Handshake = newest): Promise<HttpTalk> {
  const serving = await serveHttp(server, { port: 0 })
  onTestFinished(() => serving.close())
  const { url } = serving
  const session = handshake === null ? {} : await shakeHands(url, handshake)
  return { post: (said, headers = {}) => postTo(url, said, { ...session, ...headers }) }
}

/** The headers that all later messages of the session carry. */
async function shakeHands(url: string, revision: string): Promise<Readonly<Record<string, string>>> {
  const opened = await postTo(url, hello(revision))
  expect(opened).toMatchObject({ status: 200, answer: { id: 'hello', result: { protocolVersion: revision } } })
  const session = { 'mcp-session-id': opened.session ?? '', 'mcp-protocol-version': revision }
  expect(await postTo(url, ready, session)).toMatchObject({ status: 202, answer: null })
  return session
}

/** Without keep-alive, so that no idle connection outlives its test. */
function postTo(url: string, said: Said, headers: Readonly<Record<string, string>> = {}): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream'
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', accept, ...headers },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      toPosted(response).then(resolve, reject)
    })
    sent.end(toText(said))
  })
}

async function toPosted(response: IncomingMessage): Promise<Posted> {
  const body = await text(response)
  const session = response.headers['mcp-session-id']
  return {
    status: response.statusCode ?? 0,
    answer: body === '' ? null : JSON.parse(body),
    session: typeof session === 'string' ? session : undefined,
  }
}
