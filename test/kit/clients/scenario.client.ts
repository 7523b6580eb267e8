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
export interface JsonRpcAnswer {
  readonly jsonrpc: string
  readonly id?: string | number
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string; readonly data: Json }
}

/** One message in; its answer, or `null` where none comes. */
export type Send = (message: unknown) => Promise<JsonRpcAnswer | null>

/** Text as it is, or a message that becomes JSON. */
type Outgoing = string | Json

const toText = (said: Outgoing): string => (typeof said === 'string' ? said : JSON.stringify(said))

/** What the handshake asks for; `null` leaves it out, for the messages that come before. */
type Handshake = string | null

interface Transport {
  readonly name: string
  open(server: Server, handshake: Handshake): Promise<Send>
}

export const aRequest = (method: string, params?: unknown, id: unknown = 1): Json =>
  params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params }

export const aCallOf = (name: string, args: Json = {}, id: unknown = 1): Json =>
  aRequest('tools/call', { name, arguments: args }, id)

const initialize = (protocolVersion: string): Json =>
  aRequest(
    'initialize',
    { protocolVersion, capabilities: {}, clientInfo: { name: 'a-client', version: '1.0.0' } },
    'hello',
  )
const initialized: Json = { jsonrpc: '2.0', method: 'notifications/initialized' }

const throughHandle: Transport = {
  name: 'through handle',
  open: async (server) => async (message) => (await server.handle(message)) as JsonRpcAnswer | null,
}

const throughHttp: Transport = {
  name: 'over HTTP',
  async open(server, handshake) {
    const { post } = await openHttp(server, handshake)
    return async (message) => (await post(jsonOf(message))).answer
  },
}

/** A conversation per message: it ends before the answer is taken, so an answer too many cannot hide behind it. */
const throughStdio: Transport = {
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
type OverEveryTransport = (sentence: string, make: () => Server, check: (send: Send) => Promise<void>) => void

export const transportsAfter =
  (handshake: Handshake): OverEveryTransport =>
  (sentence, make, check) => {
    for (const door of [throughHandle, throughHttp, throughStdio])
      test(`${sentence}, ${door.name}`, async () => {
        const server = make()
        onTestFinished(() => server.close())
        await check(await door.open(server, handshake))
      })
  }

export const overEveryTransport: OverEveryTransport = transportsAfter(newest)

/** Says everything after the handshake, closes its end, and returns every line that came back, in order. */
export async function overStdio(
  server: Server,
  lines: readonly Outgoing[],
  handshake: Handshake = newest,
): Promise<readonly JsonRpcAnswer[]> {
  const { write, received, close } = await openStdio(server, handshake)
  for (const line of lines) write(line)
  await close()
  return received
}

interface StdioConversation {
  readonly input: PassThrough
  /** One line. */
  write(said: Outgoing): void
  /** What came back so far, the answer to the handshake left out. */
  readonly received: readonly JsonRpcAnswer[]
  /** The next line; the test runner's own limit ends a wait in vain. */
  next(): Promise<JsonRpcAnswer>
  /** Closes the client's end and waits until the server has said everything. */
  close(): Promise<void>
}

export async function openStdio(server: Server, handshake: Handshake = newest): Promise<StdioConversation> {
  const input = new PassThrough()
  const output = new PassThrough()
  const { closed } = serveStdio(server, { input, output })
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const heard: JsonRpcAnswer[] = []
  const next = async (): Promise<JsonRpcAnswer> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The server said no more')
    heard.push(JSON.parse(value))
    return JSON.parse(value)
  }
  const say = (said: Outgoing): void => {
    input.write(`${toText(said)}\n`)
  }
  if (handshake !== null) {
    say(initialize(handshake))
    expect(await next()).toMatchObject({ id: 'hello', result: { protocolVersion: handshake } })
    heard.length = 0
    say(initialized)
  }
  return {
    input,
    write: say,
    received: heard,
    next,
    async close() {
      input.end()
      await closed
      output.end()
      for await (const line of lines) heard.push(JSON.parse(line))
    },
  }
}

interface PostResult {
  readonly status: number
  readonly answer: JsonRpcAnswer | null
  /** The session that the response opened. */
  readonly session: string | undefined
}
interface HttpConversation {
  /** In the session. */
  post(said: Outgoing, headers?: Readonly<Record<string, string>>): Promise<PostResult>
}

/** Real requests on a free port; the server ends with the test. */
export async function openHttp(server: Server, handshake: Handshake = newest): Promise<HttpConversation> {
  const serving = await serveHttp(server, { port: 0 })
  onTestFinished(() => serving.close())
  const { url } = serving
  const session = handshake === null ? {} : await openSession(url, handshake)
  return { post: (said, headers = {}) => postTo(url, said, { ...session, ...headers }) }
}

/** The headers that all later messages of the session carry. */
async function openSession(url: string, revision: string): Promise<Readonly<Record<string, string>>> {
  const opened = await postTo(url, initialize(revision))
  expect(opened).toMatchObject({ status: 200, answer: { id: 'hello', result: { protocolVersion: revision } } })
  const session = { 'mcp-session-id': opened.session ?? '', 'mcp-protocol-version': revision }
  expect(await postTo(url, initialized, session)).toMatchObject({ status: 202, answer: null })
  return session
}

/** Without keep-alive, so that no idle connection outlives its test. */
function postTo(url: string, said: Outgoing, headers: Readonly<Record<string, string>> = {}): Promise<PostResult> {
  return new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream'
    const sent = request(url, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', accept, ...headers },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      toPostResult(response).then(resolve, reject)
    })
    sent.end(toText(said))
  })
}

async function toPostResult(response: IncomingMessage): Promise<PostResult> {
  const body = await text(response)
  const session = response.headers['mcp-session-id']
  return {
    status: response.statusCode ?? 0,
    answer: body === '' ? null : JSON.parse(body),
    session: typeof session === 'string' ? session : undefined,
  }
}
