/** Two tenants on one server, through the whole pipeline: neither finds, receives or guesses anything of the other. */

import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Layer } from '../../packages/sluice/src/core/call.ts'
import { anonymous, pipeline } from '../../packages/sluice/src/core/call.ts'
import { createHub } from '../../packages/sluice/src/core/hub.ts'
import type { Params } from '../../packages/sluice/src/core/json.ts'
import type { LogLine } from '../../packages/sluice/src/core/log.ts'
import { authorizeLayer } from '../../packages/sluice/src/layers/authorize.ts'
import { concurrencyLayer } from '../../packages/sluice/src/layers/concurrency.ts'
import { rateLimitLayer } from '../../packages/sluice/src/layers/rate-limit.ts'
import { run } from '../../packages/sluice/src/layers/run.ts'
import { createTenants } from '../../packages/sluice/src/layers/tenant-registry.ts'
import { tenantsLayer } from '../../packages/sluice/src/layers/tenants.ts'
import { timeoutLayer } from '../../packages/sluice/src/layers/timeout.ts'
import { validateLayer } from '../../packages/sluice/src/layers/validate.ts'
import type { MessageContext } from '../../packages/sluice/src/protocol/dispatch.ts'
import { createDispatch } from '../../packages/sluice/src/protocol/dispatch.ts'
import { prompt } from '../../packages/sluice/src/protocol/prompts.ts'
import { compileRegistry } from '../../packages/sluice/src/protocol/registry.ts'
import { metaKeys } from '../../packages/sluice/src/protocol/revisions.ts'
import { tool } from '../../packages/sluice/src/protocol/tools.ts'
import { memoryStore } from '../../packages/sluice/src/stores/memory.ts'
import { memoryBus } from '../../packages/sluice/src/stores/memory-bus.ts'
import { fakeClock } from '../../packages/sluice/src/testing/clock.ts'

/** Replaces `authenticate`: the header names caller and tenant. */
const believe: Layer = (next) => (call) => {
  const [subject, claim] = call.via.header('authorization')?.split('@') ?? []
  if (subject === undefined) return next(call)
  return next({ ...call, caller: { ...anonymous, subject, credential: 'test', claims: { tenant: claim } } })
}

const remember = tool({
  name: 'remember',
  description: 'Keeps what its tenant says, in every way there is',
  async run(_, { call, store }) {
    const { logger, id } = call.tenant
    const found = [await store.get(['said']), ...(await store.list([], { limit: 99 }))]
    await store.set(['said'], `secret of ${id}`)
    logger.info({ event: 'said' })
    return { found: found.filter((each) => each !== undefined) }
  },
})
const plain = (name: string, scopes: string[] = []) =>
  tool({ name, description: 'Does nothing', scopes, run: () => 'done' })

function make(rate = { burst: 1000, perSecond: 1000 }) {
  const clock = fakeClock()
  const store = memoryStore(clock)
  const lines: LogLine[] = []
  const push = (line: LogLine): void => {
    lines.push(line)
  }
  const logger = { info: push, warn: push, error: push }
  const tenantRegistry = createTenants({ store, logger })
  const guarded = prompt({
    name: 'guarded',
    description: 'Not for everybody',
    scopes: ['secret'],
    input: z.object({ x: z.string() }),
    complete: { x: () => ['a'] },
    run: () => 'text',
  })
  const registry = compileRegistry(
    {
      name: 'test',
      version: '1',
      tools: [remember, plain('of-a'), plain('of-b'), plain('for-admins', ['admin'])],
      prompts: [guarded],
    },
    { hub: createHub(memoryBus(), 'test'), pageSize: 1, errors: 'mcp' },
  )
  const has: { [id: string]: ReadonlySet<string> } = {
    a: new Set(['remember', 'of-a', 'for-admins']),
    b: new Set(['remember', 'of-b', 'for-admins']),
  }
  const layers = [
    believe,
    tenantsLayer({ claim: 'tenant', tools: (id) => has[id ?? ''] ?? new Set() }, tenantRegistry),
    rateLimitLayer(rate, 'a-server', store.take),
    authorizeLayer((call) => registry.refusal(call)),
    timeoutLayer(clock),
    concurrencyLayer(),
    validateLayer,
  ]
  const modern = pipeline(layers, run)
  const dispatch = createDispatch({
    registry: () => registry,
    modern,
    bridged: modern,
    caller: anonymous,
    tenant: tenantRegistry.none,
    rejected: () => {},
    errors: 'mcp',
    newErrorId: () => 'ref',
    publish: () => {},
    maxResultLength: 1e6,
    isShuttingDown: () => false,
  })
  async function send(who: string | undefined, method: string, params: Params = {}): Promise<Params> {
    const header = (name: string): string | undefined => (name === 'authorization' ? who : undefined)
    const via: MessageContext['via'] = { transport: 'memory', peer: '192.0.2.1', header }
    const _meta = { [metaKeys.version]: '2026-07-28', [metaKeys.capabilities]: {} }
    const reply = await dispatch({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, { via })
    return reply && !('length' in reply) ? (registry.encoder.toObject(reply) as Params) : {}
  }
  return { send, lines }
}
const call = (name: string): Params => ({ name, arguments: {} })
const errorOf = (response: Params): Params => response['error'] as Params
const resultOf = (response: Params): Params => response['result'] as Params

test('what one tenant stores or logs is not there for another', async () => {
  const { send, lines } = make()
  await send('ann@a', 'tools/call', call('remember'))
  expect(JSON.stringify(await send('ann@b', 'tools/call', call('remember')))).not.toContain('secret of a')
  const again = resultOf(await send('bob@a', 'tools/call', call('remember')))
  expect(JSON.stringify(again)).toContain('secret of a')
  expect(JSON.stringify(again)).not.toContain('secret of b')
  expect(lines.map((line) => line['tenant'])).toEqual(['a', 'b', 'a'])
})

test('a tool of another tenant, one without the scope and an unknown one are refused alike', async () => {
  const { send } = make()
  const refusals = await Promise.all(
    ['of-b', 'for-admins', 'nonsense'].map(async (name) => {
      const { message, ...rest } = errorOf(await send('ann@a', 'tools/call', call(name)))
      return { ...rest, message: String(message).replace(name, 'NAME') }
    }),
  )
  expect(refusals[0]).toMatchObject({ message: 'Unknown tool: NAME', data: { available_tools: ['remember', 'of-a'] } })
  expect(refusals[1]).toEqual(refusals[0])
  expect(refusals[2]).toEqual(refusals[0])
})

test('once the guesses are used up, a hidden tool answers like a missing one', async () => {
  const { send } = make({ burst: 2, perSecond: 1 })
  for (const name of ['guess-1', 'guess-2']) await send('ann@a', 'tools/call', call(name))
  const answers = await Promise.all(
    ['of-b', 'for-admins', 'guess-3'].map((name) => send('ann@a', 'tools/call', call(name))),
  )
  expect(answers[0]).toMatchObject({ error: { data: { reason: 'rateLimited' } } })
  expect(answers[1]).toEqual(answers[0])
  expect(answers[2]).toEqual(answers[0])
  expect(resultOf(await send('ann@a', 'tools/call', call('of-a')))).toMatchObject({ isError: false })
})

test('lists show what the tenant has, privately, and a cursor of one tenant does not work for another', async () => {
  const { send } = make()
  const first = resultOf(await send('ann@a', 'tools/list'))
  const second = resultOf(await send('ann@a', 'tools/list', { cursor: first['nextCursor'] }))
  expect([first, second].map(({ cacheScope }) => cacheScope)).toEqual(['private', 'private'])
  expect(second).toMatchObject({ tools: [{ name: 'of-a' }] })
  expect(second['nextCursor']).toBeUndefined()
  const shared = resultOf(await send('ann@b', 'tools/list', { cursor: first['nextCursor'] }))
  expect(shared).toMatchObject({ tools: [{ name: 'of-b' }] })
  const foreign = btoa(encodeURIComponent(JSON.stringify(['tools', 'of-a'])))
  const invented = btoa(encodeURIComponent(JSON.stringify(['tools', 'nonsense'])))
  const refused = await send('ann@b', 'tools/list', { cursor: foreign })
  expect(errorOf(refused)).toMatchObject({ code: -32602 })
  expect(refused).toEqual(await send('ann@b', 'tools/list', { cursor: invented }))
})

test('a caller without a tenant is refused, and a public call finds none of the tenants’ tools', async () => {
  const { send } = make()
  expect(errorOf(await send('ann@', 'tools/list'))).toMatchObject({ data: { reason: 'forbidden' } })
  expect(resultOf(await send(undefined, 'tools/list'))).toMatchObject({ tools: [], cacheScope: 'private' })
  expect(errorOf(await send(undefined, 'tools/call', call('remember')))).toMatchObject({
    data: { reason: 'unknownTool', available_tools: [] },
  })
})

test('completing a prompt that the caller may not see is refused like a missing one', async () => {
  const { send } = make()
  const complete = (name: string) =>
    send('ann@a', 'completion/complete', { ref: { type: 'ref/prompt', name }, argument: { name: 'x', value: '' } })
  const hidden = await complete('guarded')
  expect(errorOf(hidden)).toMatchObject({ code: -32602 })
  expect(hidden).toEqual(await complete('nonsense'))
})
