/**
 * Two callers never see a byte of each other. All use the same ids, progress tokens and tools, whose calls interleave;
 * each caller's canary may come back to that caller alone.
 */

import type { Params, Server } from 'sluice'
import { ask, defineServer, resource, tool } from 'sluice'
import { createServer, serveHttp } from 'sluice/node'
import { elicitation, log } from 'sluice/plugins'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { pipeTo } from '../kit/clients/in-process-stdio.client.ts'
import type { RawHttp } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead, toPost } from '../kit/clients/raw-http.client.ts'
import { callOf, headersFor, initialize, modernRequest, request } from '../kit/clients/valid-messages.ts'
import { canariesIn, canaryOf } from '../kit/servers/two-tenants.fixture.ts'
import { waitAtRandom } from '../kit/servers/wait-at-random.ts'

const silent = { info() {}, warn() {}, error() {} }

function shared(): Server {
  const input = z.object({ caller: z.string(), text: z.string() })
  return createServer(
    defineServer({
      name: 'shared',
      version: '1',
      tools: [
        tool({
          name: 'work',
          description: 'Answers with the caller’s own canary',
          input,
          async run({ caller, text }, { progress, log }) {
            const mine = canaryOf(caller, text)
            await waitAtRandom()
            progress(1, 2, mine)
            await waitAtRandom()
            log('warning', mine)
            progress(2, 2, mine)
            await waitAtRandom()
            return { mine }
          },
        }),
        tool({
          name: 'fails',
          description: 'Refuses with the caller’s own canary',
          input,
          async run({ caller, text }) {
            await waitAtRandom()
            return { content: [{ type: 'text', text: canaryOf(caller, text) }], isError: true }
          },
        }),
        tool({
          name: 'asks',
          description: 'Asks the caller’s own person',
          input,
          ask: ({ caller, text }) => ({ word: ask.form(canaryOf(caller, text), z.object({ word: z.string() })) }),
          async run(_, { answers }) {
            await waitAtRandom()
            return String(answers.word.word)
          },
        }),
      ],
      resources: [
        resource({
          uri: 'mine://{caller}/{text}',
          name: 'mine',
          async read({ caller, text }) {
            await waitAtRandom()
            return canaryOf(String(caller), String(text))
          },
        }),
      ],
    }),
    { use: [elicitation(), log(silent)] },
  )
}

interface IsolationCounts {
  answers: number
  canaries: number
  foreign: string[]
}
const tally = (): IsolationCounts => ({ answers: 0, canaries: 0, foreign: [] })

/** Every canary that a caller receives must be one of its own. */
function count(seen: IsolationCounts, text: string, owed: ReadonlySet<string>): void {
  for (const canary of canariesIn(text)) {
    seen.canaries++
    if (!owed.has(canary)) seen.foreign.push(text.slice(0, 500))
  }
}

/** The same ids for all callers. */
const messageOf = (caller: string, id: number, make: typeof modernRequest): Params => {
  const args = { caller, text: String(id) }
  if (id % 7 === 3) return make(id, 'resources/read', { uri: `mine://${caller}/${id}` })
  return make(id, 'tools/call', {
    name: id % 5 === 1 ? 'fails' : 'work',
    arguments: args,
    ...(id % 3 !== 0 && { _meta: { progressToken: id % 4, 'io.modelcontextprotocol/logLevel': 'info' } }),
  })
}
const owedFor = (caller: string, calls: number): ReadonlySet<string> =>
  new Set(Array.from({ length: calls }, (_, id) => canaryOf(caller, String(id))))

test('thousands of stateless calls over HTTP', { timeout: 60_000 }, async () => {
  const serving = await serveHttp(shared(), { port: 0 })
  const port = Number(new URL(serving.url).port)
  const seen = tally()
  const [clients, calls, pipelined] = [32, 500, 10]
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const http = await rawHttp(port)
      const caller = `modern ${client}`
      for (let from = 0; from < calls; from += pipelined) {
        const messages = Array.from({ length: pipelined }, (_, index) => messageOf(caller, from + index, modernRequest))
        http.write(Buffer.concat(messages.map((message) => toPost(port, JSON.stringify(message), headersFor(message)))))
        for (const message of messages) {
          const { status, body } = await http.next()
          const id = Number(message['id'])
          // This call's canary, and this call's id.
          const mine = canaryOf(caller, String(id))
          count(seen, body, new Set([mine]))
          expect(status).toBe(200)
          expect(body).toContain(mine)
          expect(body).toContain(`"id":${id},`)
          seen.answers++
        }
      }
      http.destroy()
    }),
  )
  expect(seen).toMatchObject({ answers: clients * calls, foreign: [] })
  expect(seen.canaries).toBeGreaterThan(1.5 * seen.answers)
  await serving.close()
})

/** A legacy client: a session, a standalone stream, and any number of connections for its calls. */
async function openSession(
  port: number,
): Promise<{ readonly headers: { readonly [name: string]: string }; readonly stream: RawHttp }> {
  const http = await rawHttp(port)
  const capable = {
    ...initialize(),
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'a', version: '1' },
    },
  }
  const opened = await http.post(JSON.stringify(capable))
  http.destroy()
  const headers = {
    'mcp-session-id': String(opened.headers.get('mcp-session-id')),
    'mcp-protocol-version': '2025-11-25',
  }
  const stream = await rawHttp(port)
  stream.write(requestHead({ host: `127.0.0.1:${port}`, accept: 'text/event-stream', ...headers }, { method: 'GET' }))
  await stream.seen(/text\/event-stream/)
  return { headers, stream }
}

test('thousands of calls in legacy sessions, with their streams', { timeout: 60_000 }, async () => {
  const server = shared()
  const serving = await serveHttp(server, { port: 0 })
  const port = Number(new URL(serving.url).port)
  const seen = tally()
  const [sessions, connections, calls] = [16, 3, 200]
  await Promise.all(
    Array.from({ length: sessions }, async (_, client) => {
      const caller = `session ${client}`
      const { headers, stream } = await openSession(port)
      const owed = owedFor(caller, connections * calls)
      const setup = await rawHttp(port)
      // Each client is notified of its own resource only.
      await setup.post(
        JSON.stringify(request('subscribe', 'resources/subscribe', { uri: `mine://${caller}/0` })),
        headers,
      )
      await Promise.all(
        Array.from({ length: connections }, async (_, connection) => {
          const http = await rawHttp(port)
          const messages = Array.from({ length: calls }, (_, index) =>
            messageOf(caller, connection * calls + index, request),
          )
          http.write(Buffer.concat(messages.map((message) => toPost(port, JSON.stringify(message), headers))))
          for (const message of messages) {
            const { status, body } = await http.next()
            const id = Number(message['id'])
            const mine = canaryOf(caller, String(id))
            // The stream of a call carries only that call's messages.
            count(seen, body, new Set([mine]))
            expect(status).toBe(200)
            expect(body).toContain(`"id":${id},`)
            expect(body).toContain(mine)
            seen.answers++
          }
          http.destroy()
        }),
      )
      server.resourceUpdated(`mine://${caller}/0`)
      await stream.seen(new RegExp(`mine://${caller}/0`))
      count(seen, stream.partial, owed)
      expect(stream.partial.match(/mine:\/\/session \d+\//g)).toEqual([`mine://${caller}/`])
      setup.destroy()
      stream.destroy()
    }),
  )
  expect(seen).toMatchObject({ answers: sessions * connections * calls, foreign: [] })
  expect(seen.canaries).toBeGreaterThan(seen.answers)
  await serving.close()
})

test('thousands of calls over pipes', { timeout: 60_000 }, async () => {
  const server = shared()
  const seen = tally()
  const [pipes, calls] = [24, 800]
  await Promise.all(
    Array.from({ length: pipes }, async (_, client) => {
      const caller = `pipe ${client}`
      // Half of them use an earlier revision.
      const make = client % 2 === 0 ? modernRequest : request
      const pipe = pipeTo(server)
      if (make === request) {
        pipe.send(initialize())
        await pipe.next()
      }
      const owed = owedFor(caller, calls)
      for (let id = 0; id < calls; id++) pipe.send(messageOf(caller, id, make))
      const answered = new Set<unknown>()
      while (answered.size < calls) {
        const line = await pipe.next()
        const text = JSON.stringify(line)
        count(seen, text, owed)
        if ('method' in line) continue
        expect(text).toContain(canaryOf(caller, String(line['id'])))
        expect(answered.has(line['id'])).toBe(false)
        answered.add(line['id'])
        seen.answers++
      }
      pipe.end()
      await pipe.serving.closed
    }),
  )
  expect(seen).toMatchObject({ answers: pipes * calls, foreign: [] })
  expect(seen.canaries).toBeGreaterThan(seen.answers)
})

test('questions reach the right caller, and answers count for no other', { timeout: 60_000 }, async () => {
  const serving = await serveHttp(shared(), { port: 0 })
  const port = Number(new URL(serving.url).port)
  const [sessions, calls] = [20, 10]
  const opened = await Promise.all(Array.from({ length: sessions }, () => openSession(port)))
  let answers = 0
  await Promise.all(
    opened.map(async ({ headers, stream }, client) => {
      const caller = `asked ${client}`
      const replier = await rawHttp(port)
      const others = opened.filter((other) => other.headers !== headers)
      for (let id = 0; id < calls; id++) {
        const http = await rawHttp(port)
        const mine = canaryOf(caller, String(id))
        http.write(
          toPost(
            port,
            JSON.stringify(request(id, 'tools/call', { name: 'asks', arguments: { caller, text: String(id) } })),
            headers,
          ),
        )
        const asked = await http.seen(/elicitation\/create[^\n]*\n\n/)
        expect(new Set(canariesIn(asked))).toEqual(new Set([mine]))
        const question = /"id":"(sluice-\d+)"/.exec(asked)?.[1]
        const said = (word: string): string =>
          JSON.stringify({ jsonrpc: '2.0', id: question, result: { action: 'accept', content: { word } } })
        // All questions have the same ids: an answer in a session where it is not open changes nothing here.
        const wrong = await replier.post(
          JSON.stringify({ jsonrpc: '2.0', id: 'sluice-999999', result: {} }),
          others[id % others.length]?.headers ?? {},
        )
        expect(wrong.status).toBe(400)
        expect((await replier.post(said(mine), headers)).status).toBe(202)
        const { body } = await http.next()
        expect(new Set(canariesIn(body))).toEqual(new Set([mine]))
        expect(body).toContain(`"text":"${mine}"`)
        // Spent: the question is closed.
        expect((await replier.post(said(mine), headers)).status).toBe(400)
        answers++
        http.destroy()
      }
      replier.destroy()
      stream.destroy()
    }),
  )
  expect(answers).toBe(sessions * calls)
  await serving.close()
})

test('a question to one caller cannot be answered with the state of another call', async () => {
  const server = shared()
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
  const ask = async (caller: string, more: Params = {}): Promise<Params> => {
    const answer = await server.handle(
      modernRequest(1, 'tools/call', { name: 'asks', arguments: { caller, text: '1' }, _meta: meta, ...more }),
    )
    return { ...answer }
  }
  const { result } = (await ask('a')) as { result: { requestState: string } }
  const inputResponses = { word: { action: 'accept', content: { word: 'open' } } }
  expect(await ask('a', { inputResponses, requestState: result.requestState })).toMatchObject({
    result: { content: [{ text: 'open' }] },
  })
  // Other arguments, another tool, one bit changed, truncated, empty, doubled.
  expect(await ask('b', { inputResponses, requestState: result.requestState })).toMatchObject({
    error: { code: -32602 },
  })
  const state = result.requestState
  const flipped = state.slice(0, -1) + (state.endsWith('A') ? 'B' : 'A')
  for (const requestState of [
    flipped,
    state.slice(1),
    state.slice(0, -4),
    '',
    '.',
    `${state}.`,
    state + state,
    ` ${state}`,
    1,
    null,
    {},
  ])
    expect(await ask('a', { inputResponses, requestState }), String(requestState)).toMatchObject({
      error: { code: -32602 },
    })
  const other = shared()
  expect(
    await other.handle(
      modernRequest(1, 'tools/call', {
        name: 'asks',
        arguments: { caller: 'a', text: '1' },
        _meta: meta,
        inputResponses,
        requestState: state,
      }),
    ),
  ).toMatchObject({ error: { code: -32602 } })
  expect(await server.handle(callOf(1, 'work', { caller: 'a', text: '1' }))).toHaveProperty('result')
})
