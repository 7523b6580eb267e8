/** Tickets on stores that lose data, and on one that is unavailable. */

import { defineServer, once, tool } from 'sluice'
import { approvals } from 'sluice/approvals'
import { createServer, serveHttp } from 'sluice/node'
import { redisBus, redisStore } from 'sluice/redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { RedisServer } from '../kit/processes/redis.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { operator, requiredIn } from '../kit/servers/approvals.fixture.ts'

const pay = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: {} } }

async function open(redis: RedisServer) {
  const store = redisStore({ url: redis.url, deadlineMs: 10_000 })
  const bus = redisBus({ url: redis.url, deadlineMs: 10_000 })
  onTestFinished(async () => {
    await store.close()
    await bus.close()
  })
  let ran = 0
  const tools = [
    tool({ name: 'pay', description: 'Pays', approval: 'always', stateless: true, run: () => `paid ${++ran}` }),
  ]
  const desk = approvals()
  const server = createServer(defineServer({ info: { name: 'shop', version: '1' }, tools }), {
    ...{ store, bus, approvals: desk, once: once(), secret: 'a secret for this test alone' },
  })
  return { server, desk, bus, ran: () => ran }
}

describe.each([
  ['without an append-only file', ['--appendonly', 'no'], /append-only/],
  ['that evicts keys when it is full', ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'], /drops keys/],
])('a Redis %s', (_, config, why) => {
  test('is refused for tickets: the server does not start, and no call runs', { timeout: 120_000 }, async () => {
    const redis = await startRedis([...config])
    onTestFinished(() => redis.stop())
    const { server, desk, ran } = await open(redis)
    await expect(server.ready()).rejects.toThrow(why)
    await expect(serveHttp(server, { port: 0 })).rejects.toThrow(why)
    expect(await server.handle(pay)).toMatchObject({ error: { data: { reason: 'storeUnavailable' } } })
    expect((await desk.list()).tickets).toEqual([])
    expect(ran()).toBe(0)
  })
})

test('a decision in one process takes effect in another', { timeout: 120_000 }, async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const [one, other] = [await open(redis), await open(redis)]
  await one.server.ready()
  const received: string[] = []
  other.desk.watch(({ id, status }) => received.push(`${id} ${status}`))
  // Until its subscription has reached Redis.
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
