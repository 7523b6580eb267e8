/** Bytes that should be one JSON-RPC message, on every path. */

import { isUtf8 } from 'node:buffer'
import type { Params } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MessagePath, Reply } from '../kit/clients/message-paths.ts'
import { messagePaths } from '../kit/clients/message-paths.ts'
import { callOf, modernRequest } from '../kit/clients/valid-messages.ts'
import { codes, table } from '../kit/generators/json-bytes.ts'
import { createAttackedServer, internalDetail } from '../kit/servers/attacked-server.fixture.ts'

/** Returns the one error of the answer. */
function errorOf({ text }: Reply): Params & { readonly code: number } {
  const answer = JSON.parse(text ?? 'null') as { readonly error: Params & { readonly code: number } }
  expect(answer).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number), message: expect.any(String) } })
  expect(text).not.toMatch(internalDetail)
  return answer.error
}

const hasId = ({ text }: Reply): boolean => 'id' in (JSON.parse(text ?? '{}') as object)
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

/** Shortened for a test's name. */
const labelled = (texts: readonly string[]): readonly { readonly text: string; readonly label: string }[] =>
  texts.map((text) => ({ text, label: text.length > 40 ? `of ${text.length - 2} characters` : text }))

test('the table has enough rows of every kind', () => {
  expect(table.length).toBeGreaterThan(200)
  expect(new Set(table.map(({ name }) => name)).size).toBe(table.length)
})

describe.each(messagePaths)('$name', ({ open, lineDelimited }) => {
  const { server, runs } = createAttackedServer()
  let path: MessagePath
  beforeAll(async () => {
    path = await open(server)
  })
  afterAll(() => path.close())

  const send = (text: string | Buffer, like?: Params): Promise<Reply> => path.send(Buffer.from(text as string), like)
  /** A call whose text was changed by hand, with the headers of the valid one. */
  const sendCall = (
    change: (text: string) => string,
    name = 'any',
    args: Params = { value: 'VALUE' },
  ): Promise<Reply> => {
    const honest = callOf(7, name, args)
    return send(change(JSON.stringify(honest)), honest)
  }

  test.each(table.filter(({ bytes }) => !lineDelimited || !bytes.includes(10)))(
    '$outcome: $name',
    async ({ bytes, outcome }) => {
      const reply = await path.send(bytes)
      // A text frame is UTF-8, or the socket closes; that is decided before our code sees it.
      if (reply.closed !== undefined) {
        expect([reply.closed, outcome, isUtf8(bytes)]).toEqual([1007, 'syntax', false])
        return
      }
      expect(errorOf(reply).code).toBe(codes[outcome])
      expect(hasId(reply)).toBe(false)
      if (reply.status !== undefined) expect(reply.status).toBe(400)
    },
  )

  test('the same bytes inside a call are refused before it runs', async () => {
    const before = runs.get('any') ?? 0
    // A value of ten thousand members is valid as an argument, and so is any other JSON.
    const bad = table.filter(
      ({ outcome, bytes }) => outcome !== 'json' && bytes.length > 0 && !(lineDelimited && bytes.includes(10)),
    )
    for (const { bytes, name, outcome } of bad) {
      const honest = callOf(7, 'any', { value: 'VALUE' })
      const [head = '', tail = ''] = JSON.stringify(honest).split('"VALUE"')
      const reply = await path.send(Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]), honest)
      if (reply.closed !== undefined) {
        expect([reply.closed, isUtf8(bytes)], name).toEqual([1007, false])
        continue
      }
      expect([-32700, -32600, -32602], name).toContain(errorOf(reply).code)
      if (outcome === 'value') expect(errorOf(reply).code, name).toBe(-32602)
    }
    expect(runs.get('any') ?? 0).toBe(before)
  })

  test.each([1, 63, 64])('%i levels of nesting are served', async (levels) => {
    // The message itself, its params and its arguments are three of them.
    const value = levels < 4 ? '1' : nested(levels - 3)
    const { text } = await sendCall((text) => text.replace('"VALUE"', value))
    expect(JSON.parse(text ?? '{}')).toMatchObject({
      id: 7,
      result: { isError: false, structuredContent: { value: JSON.parse(value) } },
    })
  })

  test.each([65, 10_000, 500_000, 1_000_000])('%i levels are refused without being built', async (levels) => {
    const before = runs.get('any') ?? 0
    const reply = await sendCall((text) =>
      text.replace('"VALUE"', levels > 500_000 ? '['.repeat(levels) : nested(levels - 3)),
    )
    expect(errorOf(reply).code).toBe(-32600)
    expect(hasId(reply)).toBe(false)
    expect(runs.get('any') ?? 0).toBe(before)
  })

  test.each(
    labelled([
      ...[
        'null',
        '1.5',
        '1e400',
        '-1e400',
        '-0',
        'true',
        'false',
        '{}',
        '[]',
        '[1]',
        '9007199254740992',
        '9007199254740993',
      ],
      ...['-9007199254740993', '1e21', `"${'x'.repeat(257)}"`, `"${'x'.repeat(10_240)}"`],
    ]),
  )('the id $label is refused and never echoed', async ({ text: id }) => {
    const before = runs.get('any') ?? 0
    const reply = await sendCall((text) => text.replace('"id":7', `"id":${id}`))
    expect(errorOf(reply).code).toBe(-32600)
    expect(hasId(reply)).toBe(false)
    expect(runs.get('any') ?? 0).toBe(before)
  })

  test.each(
    labelled([
      '0',
      '-1',
      '9007199254740991',
      '-9007199254740991',
      '1.0',
      '1e3',
      '""',
      '"null"',
      `"${'x'.repeat(256)}"`,
      '"\\u0000"',
      '"🚧"',
    ]),
  )('the id $label is served and echoed as the same value', async ({ text: id }) => {
    const { text } = await sendCall((text) => text.replace('"id":7', `"id":${id}`))
    expect(JSON.parse(text ?? '{}')).toMatchObject({
      id: JSON.parse(id),
      result: { structuredContent: { value: 'VALUE' } },
    })
  })

  test.each(['\\ud800', '\\udc00', 'a\\ud800b', '\\udea7\\ud83d'])(
    'half of a surrogate pair (%s) in an argument is invalid params',
    async (half) => {
      const reply = await sendCall((text) => text.replace('VALUE', half))
      expect(errorOf(reply).code).toBe(-32602)
      expect(JSON.parse(reply.text ?? '{}')).toHaveProperty('id', 7)
    },
  )

  test.each([
    ['an empty batch', []],
    ['a batch of no message', [1]],
    ['a batch of one', [callOf(1, 'any', { value: 1 })]],
    ['a batch of a thousand', Array.from({ length: 1000 }, (_, id) => callOf(id, 'any', { value: 1 }))],
    ['a batch of batches', [[callOf(1, 'any', { value: 1 })]]],
    [
      'a batch of a thousand without envelopes',
      Array.from({ length: 1000 }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'any', arguments: {} },
      })),
    ],
  ])('%s is refused once, and nothing runs', async (_, batch) => {
    const before = new Map(runs)
    const reply = await send(JSON.stringify(batch))
    expect(errorOf(reply).code).toBe(-32600)
    expect(hasId(reply)).toBe(false)
    // stdio's own barrier is the only call that ran.
    expect({ ...Object.fromEntries(runs), barrier: 0 }).toEqual({ ...Object.fromEntries(before), barrier: 0 })
  })

  test.each([
    'Method',
    'METHOD',
    'method\\u0000',
    '\\u0000method',
    'method ',
    ' method',
    'ｍethod',
    'methоd',
    'mеthod',
    'me\\u200bthod',
    '\\ufeffmethod',
    'methods',
  ])('a member called %s is not the method', async (name) => {
    const before = runs.get('any') ?? 0
    const reply = await sendCall((text) => text.replace('"method":', `"${name}":`))
    expect(errorOf(reply)).toMatchObject({ code: -32600, message: expect.stringContaining('missing method') })
    expect(runs.get('any') ?? 0).toBe(before)
  })

  test('an escaped name is the same name, and counts as a second one beside it', async () => {
    const same = await sendCall((text) => text.replace('"method"', String.raw`"\u006dethod"`))
    expect(JSON.parse(same.text ?? '{}')).toHaveProperty('result')
    const twice = await sendCall((text) => text.replace('"method"', String.raw`"\u006dethod":"ping","method"`))
    expect(errorOf(twice).code).toBe(-32600)
  })

  test.each([
    ...['jsonrpc', 'id', 'method', 'params'].map((member) => [member, `"${member}":1,`] as const),
    ...['name', 'arguments', '_meta'].map((member) => [`params.${member}`, `"params":{"${member}":1,`] as const),
  ])('%s named twice is refused', async (member, text) => {
    const before = runs.get('any') ?? 0
    const [, inner] = member.split('.')
    const reply = await sendCall((honest) =>
      inner ? honest.replace('"params":{', text) : honest.replace('{', `{${text}`),
    )
    expect(errorOf(reply).code).toBe(-32600)
    expect(hasId(reply)).toBe(false)
    expect(runs.get('any') ?? 0).toBe(before)
  })

  test.each([
    ['a second message', '{"jsonrpc":"2.0","id":8,"method":"ping"}'],
    ['a comma', ','],
    ['a brace', '}'],
    ['a NUL', '\0'],
    ['a letter', 'x'],
    ['a comment', '// why'],
    ['a block comment', '/* why */'],
    ['a semicolon', ';'],
    ['a form feed', '\f'],
    ['a no-break space', '\u00a0'],
    ['a byte order mark', '\ufeff'],
  ])('%s behind a message is a parse error', async (_, behind) => {
    const before = runs.get('any') ?? 0
    const reply = await sendCall((text) => text + behind)
    expect(errorOf(reply).code).toBe(-32700)
    expect(hasId(reply)).toBe(false)
    expect(runs.get('any') ?? 0).toBe(before)
  })

  test.each(['NaN', 'Infinity', '-Infinity', 'undefined', '0x10', '+1', '.5', '1_000', '10n', "'a'"])(
    '%s for a value is a parse error',
    async (value) => {
      expect(errorOf(await sendCall((text) => text.replace('"VALUE"', value))).code).toBe(-32700)
    },
  )

  test('white space around a message is ignored', async () => {
    for (const space of lineDelimited ? [' ', '\t', ' \t ', '\r'] : [' ', '\t', '\r\n', '\n\n \t\r\n']) {
      const { text } = await sendCall((text) => space + text + space)
      expect(JSON.parse(text ?? '{}')).toHaveProperty('result')
    }
  })

  test('an invalid message is refused with what is wrong', async () => {
    const like = modernRequest(7, 'tools/list')
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'missing method'],
      [{ jsonrpc: '2.0' }, 'missing method'],
      [{ jsonrpc: '2.0', id: 7 }, 'missing method'],
      [{ jsonrpc: '2.0', id: 7, method: '' }, 'missing method'],
      [{ jsonrpc: '2.0', id: 7, method: 1 }, 'missing method'],
      [{ jsonrpc: '2.0', id: 7, method: null }, 'missing method'],
      [{ jsonrpc: '2.0', id: 7, method: ['tools/list'] }, 'missing method'],
      [{ ...like, jsonrpc: '1.0' }, 'JSON-RPC version'],
      [{ ...like, jsonrpc: 2 }, 'JSON-RPC version'],
      [{ ...like, jsonrpc: '2.00' }, 'JSON-RPC version'],
      [{ ...like, jsonrpc: null }, 'JSON-RPC version'],
    ]
    for (const [message, problem] of wrong) {
      const reply = await send(JSON.stringify(message), like)
      expect(errorOf(reply)).toMatchObject({ code: -32600, message: expect.stringContaining(problem) })
      expect(hasId(reply)).toBe('id' in message)
    }
  })

  test.each([null, 1, 'a', true, [], [1]])('params %j are invalid', async (params) => {
    const reply = await send(
      JSON.stringify({ ...modernRequest(7, 'tools/list'), params }),
      modernRequest(7, 'tools/list'),
    )
    expect(errorOf(reply).code).toBe(-32602)
  })
})
