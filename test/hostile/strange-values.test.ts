/** Values that JSON cannot represent, from programs that call `handle` and from tools that throw or return anything. */

import type { LogLine, Server } from 'sluice'
import { defineServer, fail, RpcError, tool } from 'sluice'
import { toTransportServer } from 'sluice/extend'
import { createServer } from 'sluice/node'
import { log } from 'sluice/plugins'
import { expect, test } from 'vitest'
import { callOf } from '../kit/clients/valid-messages.ts'
import { canary, createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { checkAnswer } from './oracle.ts'

const bug = (): never => {
  throw new TypeError(`${canary} in /srv/app/secret.ts`)
}
/** Throws on every access. */
const poison = (target: object = {}): object =>
  new Proxy(target, { get: bug, has: bug, ownKeys: bug, getPrototypeOf: bug, getOwnPropertyDescriptor: bug })

const circle: { [key: string]: unknown } = {}
circle['circle'] = circle

test.each<readonly [string, unknown]>([
  ['undefined', undefined],
  ['a symbol', Symbol('x')],
  ['a function', () => 'x'],
  ['a BigInt', 1n],
  ['a date', new Date()],
  ['a map', new Map()],
  ['bytes', new Uint8Array(8)],
  ['a circle', circle],
  ['a cyclic list', [circle]],
  ['no prototype', Object.assign(Object.create(null), { jsonrpc: '2.0', id: 1, method: 'ping' })],
  ['inherited members', Object.create({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } })],
  [
    'a getter that throws',
    {
      jsonrpc: '2.0',
      id: 1,
      get method() {
        return bug()
      },
    },
  ],
  [
    'params that throw',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      get params() {
        return bug()
      },
    },
  ],
  ['a poisoned message', poison()],
  ['a poisoned list', poison([])],
  ['poisoned params', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: poison() }],
  ['poisoned arguments', callOf(1, 'any', poison() as never)],
  ['poisoned meta', { jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: poison() } }],
  ['an id that is an object', { jsonrpc: '2.0', id: new String('x'), method: 'ping' }],
  ['a method that is an object', { jsonrpc: '2.0', id: 1, method: new String('ping') }],
  ['ten thousand levels', Array.from({ length: 10_000 }).reduce((inner: unknown) => [inner], 1)],
  [
    'ten thousand levels of arguments',
    callOf(1, 'any', { value: Array.from({ length: 10_000 }).reduce((inner: unknown) => ({ inner }), 1) }),
  ],
  ['a BigInt in arguments', callOf(1, 'any', { value: 1n })],
])('handle accepts %s, and text too', async (_, message) => {
  const { server } = createAttackedServer()
  const answer = await server.handle(message)
  expect(answer).not.toBeNull()
  checkAnswer(answer)
  const text = await toTransportServer(server).handleText(message)
  checkAnswer(JSON.parse(text ?? 'null'), text ?? '')
})

const thrown: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['a text', () => canary],
  ['a number', () => 0],
  ['a symbol', () => Symbol(canary)],
  ['a function', () => () => canary],
  ['an Error', () => new Error(canary)],
  ['an Error with a cause', () => new Error(canary, { cause: new Error(canary) })],
  ['an AggregateError', () => new AggregateError([new Error(canary)], canary)],
  [
    'an Error with data',
    () => Object.assign(new Error(canary), { code: -32000, data: { canary }, reason: 'toolFailed', status: 200 }),
  ],
  [
    'an Error that calls itself RpcError',
    () => Object.assign(new Error(canary), { name: 'RpcError', reason: 'unknownTool', data: { canary } }),
  ],
  ['an Error whose message throws', () => Object.defineProperty(new Error('x'), 'message', { get: bug })],
  ['an Error whose stack throws', () => Object.defineProperty(new Error('x'), 'stack', { get: bug })],
  ['an Error whose name is an object', () => Object.defineProperty(new Error(canary), 'name', { value: { canary } })],
  ['a poisoned object', () => poison()],
  ['a poisoned Error', () => poison(new Error(canary))],
  ['an object that prints itself', () => ({ toString: () => canary, toJSON: () => canary })],
  ['a bug with a cause of ours', () => new RpcError('toolCrashed', 'It broke', { cause: new Error(canary) })],
  [
    'an internal error with a cause',
    () => new RpcError('internalError', 'Internal error', { cause: new Error(canary) }),
  ],
  ['that it was cancelled, although it was not', () => new RpcError('cancelled', 'Cancelled')],
  ['an abort, although there was none', () => new DOMException(canary, 'AbortError')],
  ['a failure for the model', () => fail('Only 3 seats are left')],
]

const throwing = (make: () => unknown, logger?: (line: LogLine) => void): Server =>
  createServer(
    defineServer({
      name: 'x',
      version: '1',
      tools: [
        tool({
          name: 'throws',
          description: 'x',
          run() {
            throw make()
          },
        }),
        tool({ name: 'rejects', description: 'x', run: () => Promise.reject(make()) }),
      ],
    }),
    logger ? { use: [log({ info: logger, warn: logger, error: logger })] } : {},
  )

test.each(thrown)('a tool that throws %s is one error result, and the thrown text stays inside', async (_, make) => {
  const lines: LogLine[] = []
  const server = throwing(make, (line) => lines.push(line))
  for (const name of ['throws', 'rejects'])
    for (const message of [callOf(1, name), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }]) {
      const text = await toTransportServer(server).handleText(message)
      expect(text, name).not.toBeNull()
      checkAnswer(JSON.parse(text ?? 'null'), text ?? '')
      checkAnswer(await server.handle(message))
    }
  // Every call has its log line, whatever was thrown.
  expect(lines.filter(({ event }) => event !== 'refused')).toHaveLength(8)
})

test('the codes of plain JSON-RPC reveal nothing more', async () => {
  for (const [, make] of thrown) {
    const server = createServer(
      defineServer({
        name: 'x',
        version: '1',
        tools: [tool({ name: 'throws', description: 'x', run: () => Promise.reject(make()) })],
      }),
      { errors: 'json-rpc' },
    )
    const text = await toTransportServer(server).handleText({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'throws', arguments: {} },
    })
    checkAnswer(JSON.parse(text ?? 'null'), text ?? '')
  }
})

test.each<readonly [string, () => unknown]>([
  ['undefined', () => undefined],
  ['null', () => null],
  ['a number', () => 7],
  ['a BigInt', () => 7n],
  ['a symbol', () => Symbol('x')],
  ['a function', () => () => 'x'],
  ['a circle', () => circle],
  ['an object with a BigInt', () => ({ n: 1n })],
  ['an object that throws when printed', () => ({ toJSON: bug })],
  ['an object that serializes to nothing', () => ({ toJSON: () => undefined })],
  ['a poisoned object', () => poison()],
  ['a poisoned list', () => poison([])],
  ['content that is poisoned', () => ({ content: [poison()] })],
  ['content with a hole', () => ({ content: [undefined] })],
  ['content of text', () => ({ content: ['a'] })],
  ['content with a BigInt', () => ({ content: [{ type: 'text', text: 1n }] })],
  ['content in a circle', () => ({ content: [{ type: 'text', text: 'a', _meta: circle }] })],
  ['an image without data', () => ({ content: [{ type: 'image', mimeType: 'image/png' }] })],
  ['a resource without contents', () => ({ content: [{ type: 'resource' }] })],
  // biome-ignore lint/suspicious/noThenProperty: that is the attack
  ['a thenable that throws', () => ({ then: bug })],
  ['ten thousand levels', () => ({ deep: Array.from({ length: 10_000 }).reduce((inner: unknown) => [inner], 1) })],
  [
    'a whole answer of its own',
    () => ({ content: [], jsonrpc: '1.0', id: 99, error: { code: 1, message: canary.slice(0, 3) } }),
  ],
])('a tool that returns %s gets exactly one answer', async (_, make) => {
  const server = createServer(
    defineServer({
      name: 'x',
      version: '1',
      tools: [tool({ name: 'returns', description: 'x', run: () => make() as string })],
    }),
  )
  for (const message of [
    callOf(1, 'returns'),
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'returns' } },
  ]) {
    const text = await toTransportServer(server).handleText(message)
    const answer: unknown = JSON.parse(text ?? 'null')
    checkAnswer(answer, text ?? '')
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 1 })
    checkAnswer(await server.handle(message))
  }
})
