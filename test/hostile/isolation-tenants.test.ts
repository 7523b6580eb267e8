import { once } from 'node:events'
import { authenticate, defineServer, tenants, tool } from 'sluice'
import { createServer, serveHttp } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'
import { anonymous } from '../../packages/sluice/src/core/call.ts'
import { initialize, request } from '../kit/clients/valid-messages.ts'
import { canariesIn, canaryOf, createTwoTenants, tenantNames } from '../kit/servers/two-tenants.fixture.ts'
import { hammer } from './isolation-load.ts'

test('two tenants on every transport, with the same ids, keys and texts, get no byte of each other', async () => {
  const world = await createTwoTenants({ audited: true })
  const { answers, canaries, changes, problems } = await hammer(world, 10_000)
  expect(problems).toEqual([])
  expect(answers).toBeGreaterThanOrEqual(10_000)
  expect(canaries).toBeGreaterThan(answers)
  expect(changes).toBeGreaterThan(1000)
  // What is left behind lies below its tenant, audit and idempotency records included.
  for (const tenant of tenantNames) {
    const own = new Set([...Array(400).keys(), 'tool'].map((text) => canaryOf(tenant, String(text))))
    const elsewhere = (await world.store.list([], { limit: 100_000 })).filter(({ key }) => !key.includes(tenant))
    const stray = elsewhere.filter(({ key, value }) => canariesIn(key.join() + value).some((each) => own.has(each)))
    expect(stray).toEqual([])
  }
}, 180_000)

test('cancelling an id in one session does not affect the call with that id in another, of either tenant', async () => {
  const gate = Promise.withResolvers<void>()
  const started: string[] = []
  const hold = tool({
    name: 'hold',
    description: 'Ends when it is released or stopped',
    async run(_, { call, signal }) {
      started.push(call.tenant.id)
      await Promise.race([gate.promise, once(signal, 'abort')])
      return call.tenant.id
    },
  })
  const byName = {
    verify: async (token: string) => ({ ...anonymous, subject: 'ann', credential: token, claims: { org: token } }),
  }
  const server = createServer(defineServer({ name: 'hold', version: '1', tools: [hold] }), {
    use: [authenticate({ verifiers: [byName] }), tenants({ claim: 'org' })],
  })
  const serving = await serveHttp(server, { port: 0 })
  onTestFinished(serving.close)
  const open = async (org: string) => {
    const post = (message: object, headers = {}) =>
      fetch(serving.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${org}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(message),
      })
    const session = { 'mcp-session-id': (await post(initialize())).headers.get('mcp-session-id') ?? '' }
    return (message: object) => post(message, session)
  }
  const [ant, bee, other] = await Promise.all([open('ants'), open('bees'), open('ants')])
  const calls = [ant, bee, other].map((say) => say(request(1, 'tools/call', { name: 'hold', arguments: {} })))
  while (started.length < 3) await new Promise(setImmediate)
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  expect((await ant(cancelled)).status).toBe(202)
  gate.resolve()
  const [first, ...rest] = await Promise.all(calls)
  expect(await first?.text()).not.toContain('"result"')
  for (const [index, answer] of rest.entries())
    expect(await answer.json()).toMatchObject({ id: 1, result: { content: [{ text: ['bees', 'ants'][index] }] } })
})
