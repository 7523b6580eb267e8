import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { Via } from './core/call.ts'
import type { LogLine } from './core/log.ts'
import type { Plugin } from './core/plugin.ts'
import { createServer as createNodeServer } from './node.ts'
import { audit, elicitation, health, idempotency, log, metrics, rateLimit, tenants } from './plugins/index.ts'
import { form, visit } from './protocol/questions.ts'
import { toTransportServer } from './protocol/server.ts'
import { tool } from './protocol/tools.ts'
import type { ServerOptions } from './server.ts'
import { createServer } from './server.ts'
import { createServices } from './services.ts'
import { memoryStore } from './stores/memory.ts'
import { aCall } from './testing/call.ts'
import type { TestClient } from './testing/client.ts'
import { testClient } from './testing/client.ts'
import { fakeClock } from './testing/clock.ts'

const info = { name: 'parts', version: '1' }
const asking = tool({
  name: 'deploy',
  description: 'Deploys',
  ask: () => ({ where: form('Where?', z.object({ region: z.string() })) }),
  run: () => 'done',
})
const plain = tool({ name: 'plain', description: 'Says hi', run: () => 'hi' })
const callOf = (name: string, meta: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: meta },
})

test('a server whose tool asks does not start without ask, and the message says what to do', () => {
  expect(() => createServer({ ...info, tools: [plain, asking] })).toThrow(
    'tool "deploy" asks questions: add elicitation()',
  )
  const server = createServer({ ...info, tools: [plain] })
  expect(() => server.update({ ...info, tools: [asking] })).toThrow('tool "deploy"')
  expect(() => createServer({ ...info, tools: [asking] }, { use: [elicitation()] })).not.toThrow()
})

test('a key is refused without idempotency, and nothing runs', async () => {
  const run = vi.fn(() => 'paid')
  const tools = [tool({ name: 'pay', description: 'Pays', run })]
  const keyed = callOf('pay', { 'dev.sluice/idempotencyKey': '0123456789abcdef-0123' })
  expect(await createServer({ ...info, tools }).handle(keyed)).toMatchObject({
    error: { message: expect.stringContaining('not supported here, and nothing ran') },
  })
  expect(run).not.toHaveBeenCalled()
  const keeping = createServer({ ...info, tools }, { store: memoryStore(), use: [idempotency()] })
  await keeping.handle(keyed)
  await keeping.handle(keyed)
  expect(run).toHaveBeenCalledTimes(1)
})

test('a tool that needs an approval is refused without approvals', async () => {
  const run = vi.fn(() => 'gone')
  const server = createServer({
    ...info,
    tools: [tool({ name: 'drop', description: 'Drops', approval: 'always', stateless: true, run })],
  })
  expect(await server.handle(callOf('drop'))).toMatchObject({ error: { data: { reason: 'forbidden' } } })
  expect(run).not.toHaveBeenCalled()
})

test.each<[string, unknown, string]>([
  ['options instead of a plugin', { burst: 1, perSecond: 1 }, 'not a plugin'],
  ['a function that makes a plugin', rateLimit, 'not a plugin'],
  ['true', true, 'not a plugin'],
])('%s in the list of plugins is refused at the start, not ignored', (_, entry, message) => {
  expect(() => createServer({ ...info }, { use: [entry as Plugin] })).toThrow(message)
})

test('two plugins for one slot are refused, and a plugin replaces a default', () => {
  expect(() => createServer({ ...info }, { use: [audit(), audit()] })).toThrow('two plugins for "audit"')
  const lines: LogLine[] = []
  const note = (line: LogLine): void => {
    lines.push(line)
  }
  const { logger } = createNodeServer({ ...info }, { use: [log({ info: note, warn: note, error: note })] })
  logger.info({ event: 'x' })
  expect(lines).toMatchObject([{ event: 'x' }])
})

test.each([0, -1, Number.NaN])(
  'pages of %d entries are refused at the start: every list would look empty',
  (pageSize) => {
    expect(() => createServer({ ...info, tools: [plain] }, { pageSize })).toThrow('pageSize')
  },
)

test('tenants without anybody who vouches for callers do not start', () => {
  expect(() => createServer({ ...info }, { use: [tenants({ claim: 'org' })] })).toThrow(
    '"tenants" needs "authenticate"',
  )
})

test('pages belong to the plugins that bring them', async () => {
  const paths = ['/healthz', '/readyz', '/metrics', '/other'] as const
  const found = async (runtime: ServerOptions) => {
    const { page } = toTransportServer(createServer({ ...info }, { store: memoryStore(), ...runtime }))
    return Promise.all(paths.map(async (path) => (await page(path, '127.0.0.1'))?.status))
  }
  expect(await found({})).toEqual([undefined, undefined, undefined, undefined])
  expect(await found({ use: [health()] })).toEqual([200, 200, undefined, undefined])
  expect(await found({ use: [metrics()] })).toEqual([undefined, undefined, 200, undefined])
})

test('what never became a call reaches the log and the metrics', async () => {
  const lines: LogLine[] = []
  const note = (line: LogLine): void => {
    lines.push(line)
  }
  const server = createNodeServer(
    { ...info },
    { use: [log({ info: note, warn: note, error: note }), metrics(), health()] },
  )
  await server.handle({ jsonrpc: '2.0', id: 1, method: 'nothing/here' })
  expect(lines).toMatchObject([{ event: 'method_not_found', reason: 'methodNotFound' }])
  expect((await toTransportServer(server).page('/metrics', '::1'))?.body).toMatch(
    /sluice_refused_total\{server="[^"]+",reason="methodNotFound"\} 1/,
  )
})

test('a call is silent once it is answered, whatever its work still has to say', async () => {
  const heard: object[] = []
  let later = (): void => {}
  const chatty = tool({
    name: 'chatty',
    description: 'Goes on talking',
    run(_, { log: say, progress }) {
      say('info', 'in time')
      later = () => {
        say('info', 'too late')
        progress(1)
      }
      return 'done'
    },
  })
  const via: Via = { transport: 'memory', peer: '', header: () => undefined }
  const meta = { progressToken: 'p' }
  await createServer({ ...info, tools: [chatty] }).handle(callOf('chatty', meta), {
    via,
    send: (sent) => heard.push(sent),
  })
  later()
  expect(heard).toMatchObject([{ method: 'notifications/message', params: { data: 'in time' } }])
})

test.each<[string, string, (client: TestClient) => void]>([
  ['the client refused', 'toolFailed', () => {}],
  ['the connection ended', 'cancelled', (client) => client.close()],
])('that nothing came of a question is logged and counted: %s', async (_, reason, then) => {
  const lines: LogLine[] = []
  const note = (line: LogLine): void => {
    lines.push(line)
  }
  const server = createServer(
    { ...info, tools: [asking] },
    { use: [elicitation(), log({ info: note, warn: note, error: note }), metrics()] },
  )
  const capabilities = { elicitation: {} }
  const answered = (): unknown => then(client)
  const client: TestClient = await testClient(server, { revision: '2025-11-25', capabilities, answer: answered })
  await client.send('tools/call', { name: 'deploy', arguments: {} })
  expect(lines.filter(({ method }) => method === 'tools/call')).toMatchObject([
    { outcome: 'input_required' },
    { outcome: reason, tool: 'deploy', reference: expect.any(String) },
  ])
  expect((await toTransportServer(server).page('/metrics', '::1'))?.body).toMatch(
    new RegExp(`sluice_requests_total.*"${reason}".* 1`),
  )
})

test('a client that must visit a page first gets a reference that is in the log', async () => {
  const lines: LogLine[] = []
  const note = (line: LogLine): void => {
    lines.push(line)
  }
  const paying = tool({
    name: 'pay',
    description: 'Pays',
    ask: () => ({ sign: visit('Sign in', 'https://pay.example/', 'sign') }),
    run: () => 'paid',
  })
  const server = createServer(
    { ...info, tools: [paying] },
    { use: [elicitation(), log({ info: note, warn: note, error: note })] },
  )
  const client = await testClient(server, { revision: '2025-11-25', capabilities: { elicitation: { url: {} } } })
  const refused = await client.send('tools/call', { name: 'pay', arguments: {} })
  expect(refused).toMatchObject({ error: { code: -32042, data: { reference: lines.at(-1)?.['reference'] } } })
  expect(lines.at(-1)).toMatchObject({ outcome: 'urlRequired', tool: 'pay' })
})

test('a plugin can be used alone, with createServices', async () => {
  const clock = fakeClock()
  const services = createServices({ name: 'alone', store: memoryStore(clock), clock })
  const { layer } = rateLimit({ burst: 1, perSecond: 1 }).create(services)
  const serve = layer?.(async () => ({ content: [] }))
  await serve?.(aCall())
  await expect(serve?.(aCall())).rejects.toMatchObject({ reason: 'rateLimited' })
})
