/** Random messages: arbitrary JSON, values that look like messages, and valid messages with one mutation. */

import fc from 'fast-check'
import type { Params } from 'sluice'
import { callOf, envelope, initialize, modernRequest, request } from '../clients/valid-messages.ts'

const methods = [
  ...[
    'tools/call',
    'tools/list',
    'resources/read',
    'resources/list',
    'resources/templates/list',
    'prompts/get',
    'prompts/list',
  ],
  ...[
    'completion/complete',
    'ping',
    'initialize',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'server/discover',
  ],
  ...[
    'notifications/initialized',
    'notifications/progress',
    'notifications/roots/list_changed',
    'tasks/get',
    'constructor',
    '__proto__',
    'toString',
    '',
  ],
]
const tools = [
  'echo',
  'any',
  'strict',
  'bug',
  'bug-late',
  'bug-output',
  'bug-print',
  'bug-ask',
  'asks',
  'gated',
  'bug-gate',
  'scoped',
  'routed',
  'nobody',
  'constructor',
]

const names = [
  ...[
    'jsonrpc',
    'id',
    'method',
    'params',
    'result',
    'error',
    '_meta',
    'name',
    'arguments',
    'uri',
    'cursor',
    'level',
    'ref',
    'argument',
  ],
  ...[
    'text',
    'value',
    'count',
    'kind',
    'tags',
    'region',
    'size',
    'requestState',
    'inputResponses',
    'progressToken',
    'protocolVersion',
    'capabilities',
  ],
  ...['constructor', 'toString', 'then', 'length', 'toJSON', ...Object.keys(envelope)],
]

/** Valid messages of both eras: every method, every planted bug. */
export const validMessages: readonly Params[] = [
  ...tools.map((name, id) =>
    callOf(id, name, { text: 'a', value: [1, { b: null }], count: 3, kind: 'a', region: 'eu' }),
  ),
  ...tools.map((name, id) =>
    request(`l${id}`, 'tools/call', { name, arguments: { text: 'a', count: 30 }, _meta: { progressToken: id } }),
  ),
  ...tools.map((name, id) => callOf(20 + id, name)),
  modernRequest(51, 'tools/call', {
    name: 'asks',
    arguments: {},
    requestState: 'AAAAAAAAAAAAAAAA.AAAA',
    inputResponses: { where: { action: 'accept', content: { region: 'eu' } } },
  }),
  ...['note://plain', 'bug://read', 'note://2026/bug', 'note://2026/a', 'note://', 'nobody://x'].map((uri, id) =>
    modernRequest(60 + id, 'resources/read', { uri }),
  ),
  ...['greet', 'bug', 'nobody'].map((name, id) => request(70 + id, 'prompts/get', { name, arguments: { name: 'a' } })),
  ...['year', 'slug', 'nobody'].map((name, id) =>
    request(80 + id, 'completion/complete', {
      ref: { type: 'ref/resource', uri: 'note://{year}/{slug}' },
      argument: { name, value: '2' },
    }),
  ),
  request(90, 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'greet' },
    argument: { name: 'name', value: '' },
  }),
  ...methods.map((method, id) => modernRequest(100 + id, method, { cursor: 'AAAA' })),
  ...methods.map((method, id) => request(`m${id}`, method)),
  request(200, 'logging/setLevel', { level: 'debug' }),
  request(201, 'resources/subscribe', { uri: 'note://plain' }),
  initialize(),
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'an id that is not in use' } },
  { jsonrpc: '2.0', id: 'sluice-1', result: {} },
  { jsonrpc: '2.0', id: 'sluice-1', error: { code: -1, message: 'no' } },
]

const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 2 ** 53, -0, 1e300, '', '2.0', 'a', '1', [], {}),
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.string({ maxLength: 12, unit: 'binary' }),
  fc.constantFrom<unknown>(...methods, ...tools),
)
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: 'binary' }) },
)

/** Never creates `__proto__`: in an object literal it would not be a member, and framing is tested on text. */
const toObject = (entries: readonly (readonly [string, unknown])[]): Params =>
  Object.fromEntries(entries.filter(([key]) => key !== '__proto__'))

export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(tie('any'), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.array(fc.tuple(name, tie('any')), { maxLength: 5 }).map(toObject) },
  ),
})).any

/** Has the members of a message, with arbitrary values. */
const messageLike: fc.Arbitrary<unknown> = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant<unknown>('2.0') }, { weight: 1, arbitrary: leaf }),
    id: leaf,
    method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom<unknown>(...methods) }, { weight: 1, arbitrary: anyJson }),
    params: anyJson,
    result: anyJson,
  },
  { requiredKeys: [] },
)

/** Any JSON value as a whole message. */
export const randomMessage: fc.Arbitrary<unknown> = fc.oneof(anyJson, messageLike)

interface Change {
  readonly at: number
  readonly how: 'replace' | 'drop' | 'rename' | 'add' | 'swap'
  readonly value: unknown
  readonly name: string
}
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(1000),
  how: fc.constantFrom<Change['how']>('replace', 'replace', 'drop', 'rename', 'add', 'swap'),
  value: anyJson,
  name,
})

/** A copy with one member, at any depth, replaced, dropped, renamed, swapped with its neighbour, or added. */
function changed(message: unknown, { at, how, value, name }: Change): unknown {
  let left = at % (count(message) || 1)
  const walk = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node
    const entries: [string, unknown][] = Object.entries(node)
    const out: [string, unknown][] = []
    for (const [index, [key, inner]] of entries.entries()) {
      if (left-- !== 0) out.push([key, walk(inner)])
      else if (how === 'replace') out.push([key, value])
      else if (how === 'rename') out.push([name, inner])
      else if (how === 'add') out.push([key, inner], [name, value])
      else if (how === 'swap') out.push([entries[(index + 1) % entries.length]?.[0] ?? key, inner])
    }
    return Array.isArray(node) ? out.map(([, inner]) => inner) : toObject(out)
  }
  return walk(message)
}
const count = (node: unknown): number =>
  typeof node === 'object' && node !== null
    ? Object.values(node).reduce((total: number, inner) => total + 1 + count(inner), 0)
    : 0

/** A valid message and its mutation. */
export interface Mutant<T> {
  readonly like: Params
  readonly sent: T
}

export const mutatedMessage: fc.Arbitrary<Mutant<unknown>> = fc
  .tuple(fc.constantFrom(...validMessages), fc.array(change, { minLength: 0, maxLength: 3 }))
  .map(([like, changes]) => ({ like, sent: changes.reduce(changed, like as unknown) }))

interface Edit {
  readonly at: number
  readonly how: 'flip' | 'flip' | 'cut' | 'insert' | 'remove' | 'repeat'
  readonly byte: number
}
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(2000),
  how: fc.constantFrom<Edit['how']>('flip', 'flip', 'flip', 'cut', 'insert', 'remove', 'repeat'),
  byte: fc.nat(255),
})

function edited(bytes: Buffer, { at, how, byte }: Edit): Buffer {
  const place = bytes.length === 0 ? 0 : at % bytes.length
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
  if (how === 'cut') return before
  if (how === 'insert') return Buffer.concat([before, Buffer.from([byte]), after])
  if (how === 'remove') return Buffer.concat([before, after.subarray(1 + (byte % 8))])
  if (how === 'repeat') return Buffer.concat([before, after.subarray(0, byte % 32), after])
  const flipped = Buffer.from(bytes)
  flipped[place] = (flipped[place] ?? 0) ^ (1 << (byte % 8))
  return flipped
}

/**
 * The bytes of one message, valid or mutated, with a few of them broken. Without a newline, which would make two lines
 * on stdio.
 */
export const mutatedBytes: fc.Arbitrary<Mutant<Buffer>> = fc
  .tuple(mutatedMessage, fc.array(edit, { minLength: 0, maxLength: 3 }))
  .map(([{ like, sent }, edits]) => {
    const bytes = edits.reduce(edited, Buffer.from(JSON.stringify(sent) ?? ''))
    return { like, sent: Buffer.from(bytes.map((byte) => (byte === 10 ? 32 : byte))) }
  })

/** The same with any JSON in it. */
export const randomBytes: fc.Arbitrary<Mutant<Buffer>> = randomMessage.map((message) => ({
  like: {},
  sent: Buffer.from(JSON.stringify(message) ?? 'null'),
}))
