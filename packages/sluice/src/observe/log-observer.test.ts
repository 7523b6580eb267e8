import { expect, test } from 'vitest'
import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import type { EndedCall } from '../core/observer.ts'
import { aCall } from '../testing/call.ts'
import { logObserver } from './log-observer.ts'
import { rejectionLog } from './rejection-log.ts'

type Line = LogLine & { level: string }

function watch(): { lines: Line[]; logger: Logger } {
  const lines: Line[] = []
  const at = (level: string) => (line: LogLine) => {
    lines.push({ level, ...line })
  }
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } }
}
const anEvent = (overrides: Partial<EndedCall> = {}): EndedCall => ({
  call: aCall(),
  outcome: 'complete',
  failed: false,
  receivedAt: 1000,
  durationMs: 12,
  thrown: undefined,
  ...overrides,
})
function lineFor(event: Partial<EndedCall>): Line {
  const { lines, logger } = watch()
  logObserver(logger)(anEvent(event))
  expect(lines).toHaveLength(1)
  return lines[0] as Line
}
const refusedWith = (reason: RpcError['reason'], message: string, call: Call = aCall()): Line =>
  lineFor({ call, outcome: reason, failed: true, thrown: new RpcError(reason, message) })

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

test('a line has the target, the caller, the outcome and the trace', () => {
  const call = aCall({
    id: 'a',
    meta: { traceparent, 'io.modelcontextprotocol/clientInfo': { name: 'claude-desktop', version: '1.2' } },
    facts: { caller: 'alice', tenant: 'acme', ticket: 't-1' },
  })
  const line = lineFor({ call })
  expect(JSON.parse(JSON.stringify(line))).toEqual({
    level: 'info',
    event: 'tool_execution_success',
    id: 'a',
    method: 'tools/call',
    tool: 'a-tool',
    caller: 'alice',
    tenant: 'acme',
    client: 'claude-desktop',
    clientVersion: '1.2',
    revision: '2026-07-28',
    transport: 'memory',
    receivedAt: 1000,
    durationMs: 12,
    outcome: 'complete',
    traceId,
    spanId: '00f067aa0ba902b7',
    ticket: 't-1',
  })
})

const method = (name: string): Partial<Call> => ({ method: name, target: { ...aCall().target, kind: 'method', name } })
test.each<[string, Partial<EndedCall>]>([
  ['tool_execution_success', {}],
  ['tool_execution_failed', { outcome: 'toolError', failed: true }],
  ['tool_execution_failed', { outcome: 'toolCrashed', failed: true }],
  ['tool_not_found', { outcome: 'unknownTool', failed: true }],
  ['unexpected_request_error', { outcome: 'internalError', failed: true }],
  ['listing_tools', { call: aCall(method('tools/list')) }],
  ['request', { call: aCall(method('ping')) }],
  ['request', { outcome: 'rateLimited', failed: true }],
])('the event name is %s, as docs/documents.md#000 requires', (name, event) => {
  expect(lineFor(event).event).toBe(name)
})

test.each([
  ['parseError', 'Parse error', 'parse_error'],
  ['methodNotFound', 'Method not found: foo', 'method_not_found'],
  ['invalidRequest', 'Invalid request: missing method field', 'missing_method'],
  ['invalidParams', 'Invalid params: missing tool name', 'missing_tool_name'],
  ['invalidParams', 'Invalid params: missing arguments', 'missing_arguments'],
  ['badOrigin', 'Host missing', 'refused'],
])('a message that never became a call has an event name: %s, %s', (reason, message, name) => {
  const { lines, logger } = watch()
  rejectionLog(logger)({ event: 'refused', reason, message })
  expect(lines).toMatchObject([{ level: 'warn', event: name, reason, message }])
})

test.each([
  ['not a trace', undefined],
  [`${traceparent}-more`, undefined],
  [`01${traceparent.slice(2)}-more`, traceId],
  [`ff${traceparent.slice(2)}`, undefined],
  [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
  [traceparent.toUpperCase(), undefined],
  [42, undefined],
])('traceparent %s means trace %s, or a new one', (received, expected) => {
  const found = lineFor({ call: aCall({ meta: { traceparent: received } }) })['traceId']
  if (expected !== undefined) expect(found).toBe(expected)
  else
    expect([found, String(received).includes(String(found))]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), false])
})

test('the header names the trace if _meta does not', () => {
  const via = { ...aCall().via, header: (name: string) => (name === 'traceparent' ? traceparent : undefined) }
  expect(lineFor({ call: aCall({ via }) })['traceId']).toBe(traceId)
})

test('before 2026-07-28 the client is known from its handshake', () => {
  const agreed = { revision: '2025-11-25', capabilities: {}, client: { name: 'c'.repeat(99) } }
  const connection = { state: { agreed } }
  const via = { ...aCall().via, connection } as unknown as Call['via']
  expect(lineFor({ call: aCall({ via }) })['client']).toBe('c'.repeat(64))
  const params = { clientInfo: { name: 'first', version: 1 } }
  expect(lineFor({ call: aCall({ method: 'initialize', params }) })).toMatchObject({ client: 'first' })
})

test('a refusal is a warning with its reason, its message and the reference that the client got', () => {
  const call = aCall({ facts: { reference: 'ref-1' } })
  expect(refusedWith('rateLimited', 'Too many calls', call)).toMatchObject({
    ...{ level: 'warn', reason: 'rateLimited', message: 'Too many calls', reference: 'ref-1' },
  })
})

test('a result with isError is a warning', () => {
  expect(lineFor({ outcome: 'toolError', failed: true })).toMatchObject({ level: 'warn', reason: 'toolFailed' })
})

test('a bug is an error with its type, message and stack', () => {
  const line = lineFor({ outcome: 'internalError', failed: true, thrown: new TypeError('x is not a function') })
  expect(line).toMatchObject({ level: 'error', errorType: 'TypeError', errorMessage: 'x is not a function' })
  expect(line['stack']).toMatch(/^TypeError: x is not a function\n {4}at .*log-observer\.test/)
})

test('the line of a crashed tool has the thrown error', () => {
  const crash = new RpcError('toolCrashed', 'Tool execution failed', { cause: 'not even an error' })
  expect(lineFor({ outcome: 'toolCrashed', failed: true, thrown: crash })).toMatchObject({
    ...{ level: 'error', reason: 'toolCrashed', errorType: 'string' },
  })
})

test('arguments, answers and credentials are removed from a bug’s message and stack', () => {
  const headers: { [name: string]: string } = {
    authorization: 'Bearer s3cr3t-of-this-call',
    cookie: 'sid=cookie-value',
  }
  const call = aCall({
    args: { user: { card: 4111111111111111 }, path: 'C:\\secret\\"file"' },
    params: { token: 'token-in-params' },
    via: { ...aCall().via, header: (name) => headers[name] },
  })
  const sent = ['4111111111111111', 'C:\\secret\\"file"', JSON.stringify('C:\\secret\\"file"'), 'token-in-params']
  const message = [
    ...sent,
    's3cr3t-of-this-call',
    'cookie-value',
    'password=hunter2',
    'Bearer abcdefgh',
    'the rest',
  ].join(' | ')
  const thrown = new Error(`${message}\nsecond line 4111111111111111\n    at token-in-params`)
  const line = JSON.stringify(lineFor({ call, outcome: 'internalError', failed: true, thrown }))
  for (const secret of [...sent, 's3cr3t', 'cookie-value', 'hunter2', 'abcdefgh', 'secret'])
    expect(line).not.toContain(secret)
  expect(line).toContain('the rest')
  expect(line).toContain('log-observer.test')
})

test('neither a long argument nor its beginning is in the log', () => {
  const text = `begin ${'x'.repeat(100_000)}`
  for (const message of [`no: ${text}`, `no: ${text.slice(0, 100)}…`, `${'y'.repeat(2_000)}${text}`]) {
    const line = lineFor({
      call: aCall({ args: { text } }),
      outcome: 'internalError',
      failed: true,
      thrown: new Error(message),
    })
    expect(JSON.stringify(line)).not.toContain('begin')
  }
})

test('a fragment of an argument that JSON.parse quotes is not in the log', () => {
  for (const text of ['{"a": pin}', `[${'1,'.repeat(50)}pin]`, 'pin']) {
    let thrown: unknown
    try {
      JSON.parse(text)
    } catch (caught) {
      thrown = caught
    }
    const line = lineFor({ call: aCall({ args: { text } }), outcome: 'internalError', failed: true, thrown })
    expect(line['errorMessage']).not.toContain('pin')
    expect(line['errorMessage']).toContain('[redacted]')
  }
})

test('an error whose fields are not strings still has its line', () => {
  const thrown = Object.assign(new Error('x'), { name: {}, message: 5, stack: Symbol('s') })
  expect(lineFor({ outcome: 'internalError', failed: true, thrown })).toMatchObject({
    errorType: 'a object',
    errorMessage: 'a number',
  })
})

test('a message changed after the stack was made does not reveal the old one in the log', () => {
  const thrown = new Error('about hunter2')
  thrown.message = 'about a secret'
  const line = lineFor({ call: aCall({ args: ['hunter2'] }), outcome: 'internalError', failed: true, thrown })
  expect(JSON.stringify(line)).not.toContain('hunter2')
  expect(line['stack']).toContain('log-observer.test')
})

test.each(['invalidArguments', 'invalidParams', 'toolFailed', 'resourceNotFound'] as const)(
  'the message of %s may quote the caller, and is not logged',
  (reason) => {
    expect(JSON.stringify(refusedWith(reason, 'must not be "x y z"'))).not.toContain('x y z')
  },
)

test('a logger that repeats lines logs what any other logger logs, whatever differs between two calls', () => {
  const base = aCall()
  const client = (name: string) => ({ 'io.modelcontextprotocol/clientInfo': { name, version: name } })
  const calls: readonly Partial<Call>[] = [
    {},
    { id: 2 },
    { facts: { caller: 'ann' } },
    { facts: { tenant: 'acme', ticket: 't-1' } },
    { meta: client('one') },
    { meta: client('two') },
    { revision: '2025-11-25' },
    { via: { ...base.via, transport: 'stdio' } },
    { method: 'tools/other' },
    { facts: { transport: 'forged', event: 'forged', receivedAt: 0 } },
    { facts: { traceId: 'a"b', spanId: '\n' } },
    { id: 'a"b\\', facts: { 'a"b': 'c"d' } },
    { facts: { reference: 'r"1' } },
    {},
  ]
  const plain = watch()
  const repeating = watch()
  const { lines } = repeating
  const repeat = (line: LogLine) => (members: string) =>
    lines.push({ level: 'info', ...line, ...JSON.parse(`{${members.slice(1)}}`) })
  const [one, other] = [logObserver(plain.logger, 's'), logObserver({ ...repeating.logger, repeat }, 's')]
  for (const call of calls) {
    const event = anEvent({ call: { ...base, facts: {}, ...call } })
    // The first of them makes the ids of the trace.
    other(event)
    one(event)
    other({ ...event, outcome: 'task' })
    one({ ...event, outcome: 'task' })
  }
  expect(lines).toEqual(plain.lines)
  expect(lines).toHaveLength(2 * calls.length)
})
