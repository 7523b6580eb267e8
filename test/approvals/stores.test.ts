/** Tickets on stores that lose data, and on one that is unavailable. */

import { defineServer, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createServer, serveHttp } from 'sluice/node'
import { idempotency } from 'sluice/plugins'
import { postgresBus, postgresStore } from 'sluice/postgres'
import { redisBus, redisStore } from 'sluice/redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startPostgres } from '../kit/processes/postgres.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { operator, requiredIn } from '../kit/servers/approvals.fixture.ts'

const pay = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: {} } }

async function open({ url }: { readonly url: string }) {
  const settings = { url, deadlineMs: 10_000 }
  const isRedis = url.startsWith('redis:')
  const store = isRedis ? redisStore(settings) : postgresStore(settings)
  const bus = isRedis ? redisBus(settings) : postgresBus(settings)
  onTestFinished(async () => {
    await store.close()
    await bus.close()
  })
  let ran = 0
  const tools = [
    tool({ name: 'pay', description: 'Pays', approval: 'always', stateless: true, run: () => `paid ${++ran}` }),
  ]
  const desk = createApprovals({ store, bus })
  const server = createServer(defineServer({ name: 'shop', version: '1', tools }), {
    ...{ store, bus, secret: 'a secret for this test alone', use: [desk, idempotency()] },
  })
  return { server, desk, bus, ran: () => ran }
}

describe.each([
  ['a Redis without an append-only file', () => startRedis(['--appendonly', 'no']), /append-only/],
  [
    'a Redis that drops keys when it is full',
    () => startRedis(['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']),
    /drops keys/,
  ],
  ['a PostgreSQL that does not wait for its disk', () => startPostgres(), /fsync = on/],
  [
    'a PostgreSQL that acknowledges before it writes',
    () => startPostgres(['fsync=on', 'synchronous_commit=off']),
    /synchronous_commit = on/,
  ],
])('%s', (_, start, why) => {
  test('is refused for tickets: the server does not start, and no call runs', { timeout: 120_000 }, async () => {
    const weak = await start()
    onTestFinished(() => weak.stop())
    const { server, desk, ran } = await open(weak)
    await expect(server.ready()).rejects.toThrow(why)
    await expect(serveHttp(server, { port: 0 })).rejects.toThrow(why)
    expect(await server.handle(pay)).toMatchObject({ error: { data: { reason: 'storeUnavailable' } } })
    expect((await desk.list()).tickets).toEqual([])
    expect(ran()).toBe(0)
  })
})

test.each([
  ['Redis', () => startRedis()],
  ['PostgreSQL', () => startPostgres(['fsync=on'])],
])('a decision in one process is heard and honoured in another, on %s', { timeout: 120_000 }, async (_, start) => {
  const shared = await start()
  onTestFinished(() => shared.stop())
  const [one, other] = [await open(shared), await open(shared)]
  await one.server.ready()
  const received: string[] = []
  other.desk.watch(({ id, status }) => received.push(`${id} ${status}`))
  // Until its subscription has reached the server.
  const probe = JSON.stringify({ id: 'probe', status: 'pending' })
  await vi.waitFor(
    async () => {
      await one.bus.publish('approvals', probe)
      expect(received).toContain('probe pending')
    },
    { timeout: 60_000 },
  )
  const { request_id } = requiredIn({ ...(await one.server.handle(pay)) })
  await one.desk.decide(request_id, { approved: true }, operator)
  await vi.waitFor(() => expect(received).toContain(`${request_id} approved`), { timeout: 60_000 })
  expect(await other.server.handle(pay)).toMatchObject({ result: { content: [{ text: 'paid 1' }] } })
  expect([one.ran(), other.ran()]).toEqual([0, 1])
})
