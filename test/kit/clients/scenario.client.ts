/**
 * The paths of a message to a server: `handle`, Streamable HTTP and stdio. A scenario is written once and runs on all
 * of them, because a user may rely on any.
 *
 * `handle` takes the message alone; over HTTP and stdio a legacy client does the handshake first.
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

/** A response as on the wire, without `id` if none could be read. */
export interface JsonRpcAnswer {
  readonly jsonrpc: string
  readonly id?: string | number
  readonly result?: Json
  readonly error?: { readonly code: number; readonly message: string; readonly data: Json }
}

/** Sends one message; returns its answer, or `null` if there is none. */
export type Send = (message: unknown) => Promise<JsonRpcAnswer | null>

/** Raw text, or a message that becomes JSON. */
type Outgoing = string | Json

const toText = (outgoing: Outgoing): string => (typeof outgoing === 'string' ? outgoing : JSON.stringify(outgoing))

/** The revision of the handshake; `null` skips it, for messages that come before. */
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

/** One conversation per message, which ends before the answer is read, so that a superfluous answer is noticed. */
const throughStdio: Transport = {
  name: 'over stdio',
  open: async (server, handshake) => async (message) => {
    const answers = await overStdio(server, [jsonOf(message)], handshake)
    expect(answers.length).toBeLessThan(2)
    return answers[0] ?? null
  },
}

/** Also accepts values that are not objects. */
const jsonOf = (message: unknown): string => JSON.stringify(message)

const newest = '2025-11-25'

/** Makes three tests of one, one per transport. `check` gets a fresh server each time. */
type OverEveryTransport = (sentence: string, make: () => Server, check: (send: Send) => Promise<void>) => void

export const transportsAfter =
  (handshake: Handshake): OverEveryTransport =>
  (sentence, make, check) => {
    for (const transport of [throughHandle, throughHttp, throughStdio])
      test(`${sentence}, ${transport.name}`, async () => {
        const server = make()
        onTestFinished(() => server.close())
        await check(await transport.open(server, handshake))
      })
  }

export const overEveryTransport: OverEveryTransport = transportsAfter(newest)

/** Sends everything after the handshake, closes its end, and returns every received line in order. */
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
  write(outgoing: Outgoing): void
  /** All answers so far, except that of the handshake. */
  readonly received: readonly JsonRpcAnswer[]
  /** The next line; the test runner's own limit ends a wait in vain. */
  next(): Promise<JsonRpcAnswer>
  /** Closes the client's end and waits for the end of the output. */
  close(): Promise<void>
}

export async function openStdio(server: Server, handshake: Handshake = newest): Promise<StdioConversation> {
  const input = new PassThrough()
  const output = new PassThrough()
  const { closed } = serveStdio(server, { input, output })
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const received: JsonRpcAnswer[] = []
  const next = async (): Promise<JsonRpcAnswer> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The server sent nothing more')
    received.push(JSON.parse(value))
    return JSON.parse(value)
  }
  const write = (outgoing: Outgoing): void => {
    input.write(`${toText(outgoing)}\n`)
  }
  if (handshake !== null) {
    write(initialize(handshake))
    expect(await next()).toMatchObject({ id: 'hello', result: { protocolVersion: handshake } })
    received.length = 0
    write(initialized)
  }
  return {
    input,
    write: write,
    received: received,
    next,
    async close() {
      input.end()
      await closed
      output.end()
      for await (const line of lines) received.push(JSON.parse(line))
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
  /** Posts in the session. */
  post(outgoing: Outgoing, headers?: Readonly<Record<string, string>>): Promise<PostResult>
}

/** Sends real requests on a free port; the server closes with the test. */
export async function openHttp(server: Server, handshake: Handshake = newest): Promise<HttpConversation> {
  const serving = await serveHttp(server, { port: 0 })
  onTestFinished(() => serving.close())
  const { url } = serving
  const session = handshake === null ? {} : await openSession(url, handshake)
  return { post: (outgoing, headers = {}) => postTo(url, outgoing, { ...session, ...headers }) }
}

/** Returns the headers that all later messages of the session carry. */
async function openSession(url: string, revision: string): Promise<Readonly<Record<string, string>>> {
  const opened = await postTo(url, initialize(revision))
  expect(opened).toMatchObject({ status: 200, answer: { id: 'hello', result: { protocolVersion: revision } } })
  const session = { 'mcp-session-id': opened.session ?? '', 'mcp-protocol-version': revision }
  expect(await postTo(url, initialized, session)).toMatchObject({ status: 202, answer: null })
  return session
}

/** Without keep-alive, so that no idle connection outlives its test. */
function postTo(url: string, outgoing: Outgoing, headers: Readonly<Record<string, string>> = {}): Promise<PostResult> {
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
    sent.end(toText(outgoing))
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
