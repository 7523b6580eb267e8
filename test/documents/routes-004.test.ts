/**
 * The routing server's document on the listening block: its required test cases (§6.2) and its output.
 * `docs/documents.md` says where Sluice differs.
 *
 * Tested elsewhere: overload (−32000), keys and permissions (−32001), rate limits and the 30 seconds of a request with
 * their layers; trace ids with the observe layer; `npm run bench` prints the 100 ms for parsing.
 */

import type { Call, Layer, Server, ServerOptions } from 'sluice'
import { defineServer, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { customLayer, log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  aCallOf,
  aRequest,
  type JsonRpcAnswer,
  openHttp,
  openStdio,
  overEveryTransport,
  overStdio,
  type Send,
} from '../kit/clients/scenario.client.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

const info = { name: 'RouteMCP_TomTom_CleanArch', version: '1.0.0' }
const calculateRoute = tool({
  name: 'calculate_route',
  description: 'The way from one place to another',
  input: z.object({ origin: z.string(), destination: z.string(), note: z.string().optional() }),
  run: ({ origin, destination, note = '' }) => `${origin} to ${destination}${note && `, ${note.length}`}`,
})
const routes = defineServer({ ...info, tools: [calculateRoute] })

const serve =
  (runtime: ServerOptions = {}) =>
  (): Server =>
    createServer(routes, runtime)

const places = { origin: 'Hanoi', destination: 'Ho Chi Minh City' }
const good = aCallOf('calculate_route', places, 'req-123')

describe('a valid request', () => {
  overEveryTransport('a tool call is answered under its id', serve(), async (send) => {
    expect(await send(good)).toEqual({
      jsonrpc: '2.0',
      id: 'req-123',
      result: { content: [{ type: 'text', text: 'Hanoi to Ho Chi Minh City' }], isError: false },
    })
  })

  test('the result has the id, the tool, the arguments and the source of the request', async () => {
    const seen: Call[] = []
    const note: Layer = (next) => (call) => {
      seen.push(call)
      return next(call)
    }
    const server = serve({ use: [customLayer(note)] })
    await server().handle(good)
    await overStdio(server(), [good])
    await (await openHttp(server())).post(good)
    const calls = seen.filter(({ method }) => method === 'tools/call')
    expect(calls.map(({ via }) => via.transport)).toEqual(['memory', 'stdio', 'http'])
    for (const { id, target, args, revision } of calls)
      expect({ id, kind: target.kind, name: target.name, args, revision }).toEqual({
        id: 'req-123',
        kind: 'tool',
        name: 'calculate_route',
        args: places,
        revision: '2025-11-25',
      })
    expect(calls[1]?.via.connection?.state.agreed?.client).toEqual({ name: 'a-client', version: '1.0.0' })
  })

  test('a request that arrives in several chunks, with Windows line ends and blank lines, is one request', async () => {
    const { input, received, close } = await openStdio(serve()())
    const bytes = Buffer.from(
      `\r\n  \n${JSON.stringify(aCallOf('calculate_route', { origin: 'Hà Nội', destination: 'Huế' }))}\r\n\n`,
    )
    for (const byte of bytes) input.write(Buffer.from([byte]))
    await close()
    expect(received).toMatchObject([{ id: 1, result: { content: [{ text: 'Hà Nội to Huế' }] } }])
  })

  test('the last request needs no line end', async () => {
    const { input, received, close } = await openStdio(serve()())
    input.write(JSON.stringify(good))
    await close()
    expect(received).toMatchObject([{ id: 'req-123', result: { isError: false } }])
  })

  test('the log has the id, the tool and the source, and no argument', async () => {
    const { logger, lines } = recordingLogger()
    await overStdio(serve({ use: [log(logger)] })(), [good])
    expect(lines).toContainEqual(
      expect.objectContaining({
        id: 'req-123',
        method: 'tools/call',
        tool: 'calculate_route',
        transport: 'stdio',
        outcome: 'complete',
      }),
    )
    expect(JSON.stringify(lines)).not.toContain('Hanoi')
  })
})

describe('a refused request', () => {
  /** Not JSON, so there is no id to answer to. */
  const broken = [
    '{"jsonrpc": "2.0", "method": "tools/call" // missing closing brace',
    '{"jsonrpc":"2.0","id":"req-123","method":"tools/call"',
    `${JSON.stringify(good)},`,
    "{'jsonrpc':'2.0'}",
    'GET / HTTP/1.1',
    '\u0000{}',
    '{"a":01}',
    '"unfinished',
  ]

  test('invalid JSON is a parse error without an id, and the next request is served', async () => {
    for (const text of broken) {
      const answers = await overStdio(serve()(), [text, good])
      expect(answers).toMatchObject([{ error: { code: -32700 } }, { id: 'req-123', result: {} }])
      expect(answers[0]).not.toHaveProperty('id')
    }
  })

  test('over HTTP invalid JSON, or an empty body, is a parse error with status 400', async () => {
    const { post } = await openHttp(serve()())
    for (const text of [...broken, '', ' ']) {
      const { status, answer } = await post(text)
      expect({ status, code: answer?.error?.code }).toEqual({ status: 400, code: -32700 })
      expect(answer).not.toHaveProperty('id')
    }
    expect(await post(good)).toMatchObject({ status: 200, answer: { id: 'req-123' } })
  })

  test('no text that is not JSON is returned or logged', async () => {
    const { logger, lines } = recordingLogger()
    const answers = await overStdio(serve({ use: [log(logger)] })(), ['{"api_key":"tomtom-0123456789"'])
    expect(JSON.stringify([answers, lines])).not.toContain('tomtom')
  })

  for (const errors of ['mcp', 'json-rpc'] as const)
    overEveryTransport(
      `a request without jsonrpc or method is invalid, and keeps its id (${errors})`,
      serve({ errors }),
      async (send) => {
        for (const missing of ['jsonrpc', 'method']) {
          const { [missing]: _, ...message } = good
          expect(await send(message)).toMatchObject({ id: 'req-123', error: { code: -32600 } })
        }
      },
    )

  overEveryTransport('only the methods that read params require them', serve(), async (send) => {
    expect(await send(aRequest('tools/call'))).toMatchObject({ error: { code: -32602 } })
    for (const method of ['tools/list', 'ping']) expect(await send(aRequest(method))).toHaveProperty('result')
  })

  overEveryTransport('jsonrpc must be exactly 2.0', serve(), async (send) => {
    for (const jsonrpc of ['1.0', '2.1', '2.0 ', 2, true, null, ['2.0']])
      expect(await send({ ...good, jsonrpc })).toMatchObject({ id: 'req-123', error: { code: -32600 } })
  })

  overEveryTransport('an unknown method is not found', serve(), async (send) => {
    for (const method of ['calculate_route', 'tools/run'])
      expect(await send(aRequest(method, {}))).toMatchObject({
        error: { code: -32601, message: `Method not found: ${method}` },
      })
  })

  for (const [errors, code] of [
    ['mcp', -32602],
    ['json-rpc', -32601],
  ] as const)
    overEveryTransport(`an unknown tool is ${code} (${errors})`, serve({ errors }), async (send) => {
      expect(await send(aCallOf('teleport', places))).toMatchObject({
        error: { code, data: { available_tools: ['calculate_route'] } },
      })
    })

  test("a client of 2026-07-28 gets the codes of MCP, whatever the server's style", async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const server = serve({ errors: 'json-rpc' })()
    expect(await server.handle(aRequest('tools/call', { name: 'teleport', arguments: {}, _meta }))).toMatchObject({
      error: { code: -32602, message: 'Unknown tool: teleport' },
    })
    expect(
      await server.handle(aRequest('tools/call', { name: 'calculate_route', arguments: {}, _meta })),
    ).toMatchObject({
      result: { isError: true },
    })
  })
})

describe('edge cases', () => {
  overEveryTransport('an empty request is invalid', serve(), async (send) => {
    for (const message of [{}, [], '', null, 0]) {
      const answer = await send(message)
      expect(answer).toMatchObject({ error: { code: -32600 } })
      expect(answer).not.toHaveProperty('id')
    }
  })

  test('an empty line is not a request: it keeps the pipe alive and is not answered', async () => {
    expect(await overStdio(serve()(), ['', ' ', '\t', '\r'])).toEqual([])
  })

  /** A request of exactly this many bytes. */
  const ofSize = (bytes: number): string => {
    const empty = JSON.stringify(aCallOf('calculate_route', { ...places, note: '' }))
    return empty.replace('"note":""', `"note":"${'x'.repeat(bytes - empty.length)}"`)
  }
  const mebibyte = 1024 * 1024

  test('over HTTP a body of one mebibyte is served, and one byte more is refused', async () => {
    const { post } = await openHttp(serve()())
    expect(await post(ofSize(mebibyte))).toMatchObject({ status: 200, answer: { result: { isError: false } } })
    expect(await post(ofSize(mebibyte + 1))).toMatchObject({
      status: 413,
      answer: { error: { code: -32600, data: { reason: 'payloadTooLarge', maxBytes: mebibyte } } },
    })
    expect(await post(ofSize(mebibyte + 1), { 'mcp-protocol-version': '2026-07-28' })).toMatchObject({
      status: 413,
      answer: { error: { code: 41300 } },
    })
    expect(await post(good)).toMatchObject({ status: 200, answer: { id: 'req-123' } })
  })

  test('over stdio a line of four mebibytes is served, and one byte more is refused and skipped', async () => {
    const answers = await overStdio(serve()(), [ofSize(4 * mebibyte), ofSize(4 * mebibyte + 1), good])
    expect(answers.map(({ id, error, result }) => [id, error?.data['reason'] ?? result?.['isError']])).toEqual(
      expect.arrayContaining([
        [1, false],
        [undefined, 'payloadTooLarge'],
        ['req-123', false],
      ]),
    )
    expect(answers).toHaveLength(3)
  })

  test('nesting is served down to 64 levels and refused below', async () => {
    const nested = (levels: number): string =>
      JSON.stringify(aRequest('ping', {})).replace('{}', `{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}`)
    expect(await overStdio(serve()(), [nested(64)])).toMatchObject([{ id: 1, result: {} }])
    expect(await overStdio(serve()(), [nested(65)])).toMatchObject([{ error: { code: -32600 } }])
    const { post } = await openHttp(serve()())
    expect(await post(nested(64))).toMatchObject({ status: 200 })
    expect(await post(nested(65))).toMatchObject({ status: 400, answer: { error: { code: -32600 } } })
  })
})

describe('many concurrent requests', () => {
  const many = 50

  /** A tool that answers when all calls have arrived; sequential calls would never be answered. */
  const meeting = (): Server => {
    let waiting: (() => void)[] = []
    const meet = tool({
      name: 'meet',
      description: 'Waits for everybody',
      input: z.object({ seat: z.int() }),
      async run({ seat }) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          if (waiting.length < many) return
          // The last to arrive is answered first.
          for (const go of waiting.reverse()) go()
          waiting = []
        })
        return `seat ${seat}`
      },
    })
    return createServer({ ...info, tools: [meet] }, { clock: fakeClock() })
  }
  const calls = Array.from({ length: many }, (_, seat) => aCallOf('meet', { seat }, `req-${seat}`))
  const expectEachItsOwn = (answers: readonly (JsonRpcAnswer | null)[]): void => {
    const byId = new Map(answers.map((answer) => [answer?.id, answer?.result?.['content']]))
    expect(answers).toHaveLength(many)
    for (let seat = 0; seat < many; seat++)
      expect(byId.get(`req-${seat}`)).toEqual([{ type: 'text', text: `seat ${seat}` }])
  }

  test('all run concurrently and each gets its own answer, through handle', async () => {
    const server = meeting()
    const send: Send = async (message) => (await server.handle(message)) as JsonRpcAnswer | null
    expectEachItsOwn(await Promise.all(calls.map(send)))
  })

  test('all run concurrently and each gets its own answer, over HTTP', async () => {
    const { post } = await openHttp(meeting())
    const posted = await Promise.all(calls.map((message) => post(message)))
    expectEachItsOwn(posted.map(({ answer }) => answer))
  })

  test('all run concurrently and each gets its own answer, over stdio', async () => {
    expectEachItsOwn(await overStdio(meeting(), calls))
  })
})

describe('the same id twice', () => {
  const pair = (): { readonly server: Server; readonly ran: readonly string[] } => {
    const ran: string[] = []
    const held = Promise.withResolvers<void>()
    const wait = tool({
      name: 'wait',
      description: 'Waits for the other',
      async run() {
        ran.push('wait')
        await held.promise
        return 'waited'
      },
    })
    const go = tool({
      name: 'go',
      description: 'Lets the other go',
      run() {
        held.resolve()
        return 'went'
      },
    })
    return { server: createServer({ ...info, tools: [wait, go] }, { clock: fakeClock() }), ran }
  }
  const waiting = aCallOf('wait', {}, 7)
  const going = aCallOf('go', {}, 8)

  test('the id of a running call is taken on that connection: a second call is refused and does not run', async () => {
    const { server, ran } = pair()
    const answers = await overStdio(server, [waiting, waiting, going])
    expect(answers.filter(({ id }) => id === 7)).toMatchObject([
      { error: { code: -32600 } },
      { result: { isError: false } },
    ])
    expect(ran).toEqual(['wait'])
  })

  test('1 and "1" are two ids', async () => {
    const { server, ran } = pair()
    const two = [aCallOf('wait', {}, 1), aCallOf('wait', {}, '1'), aCallOf('go', {}, 2)]
    const answers = await overStdio(server, two)
    expect(answers.filter(({ error }) => error)).toEqual([])
    expect(ran).toEqual(['wait', 'wait'])
  })

  test('an id may be reused after its answer: nothing is replayed', async () => {
    const ran: number[] = []
    const count = tool({ name: 'count', description: 'Counts', run: () => String(ran.push(1)) })
    const { write, next, close } = await openStdio(createServer({ ...info, tools: [count] }))
    for (const times of ['1', '2']) {
      write(aCallOf('count', {}, 'again'))
      expect(await next()).toMatchObject({ id: 'again', result: { content: [{ text: times }] } })
    }
    await close()
  })

  test('two clients may use the same id at the same time', async () => {
    const { server, ran } = pair()
    const [one, other] = [await openStdio(server), await openStdio(server)]
    one.write(waiting)
    other.write(waiting)
    other.write(going)
    await Promise.all([one.close(), other.close()])
    expect(one.received).toMatchObject([{ id: 7, result: { content: [{ text: 'waited' }] } }])
    expect(other.received.find(({ id }) => id === 7)).toMatchObject({ result: { content: [{ text: 'waited' }] } })
    expect(ran).toEqual(['wait', 'wait'])
  })
})
