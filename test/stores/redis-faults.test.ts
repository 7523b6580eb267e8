/**
 * Redis that is down, silent, full, read-only or without scripts: what the store answers, and that it recovers. If
 * timing matters, the store has a stopped clock: a refusal without the passing of time has not waited.
 */

import { once } from 'node:events'
import type { Server } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { RedisOptions, RedisStore } from '../../packages/sluice/src/stores/redis.ts'
import { checkRedisDurability, redisBus, redisStore } from '../../packages/sluice/src/stores/redis.ts'
import { fakeClock } from '../../packages/sluice/src/testing/clock.ts'
import { freePort } from '../kit/processes/programs.ts'
import type { RedisServer } from '../kit/processes/redis.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { startRedisPair } from '../kit/processes/redis-pair.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
}, 180_000)
afterAll(() => server?.stop())

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
let opened = 0
/** A long deadline by default, because a server that gets no processor for a second is not at fault. */
const open = (options: Partial<RedisOptions> = {}): RedisStore => {
  const store = redisStore({ url: server.url, prefix: `f${++opened}`, deadlineMs: 20_000, ...options })
  closing.push(() => store.close())
  return store
}
/** Asks Redis itself, past the store. */
async function ask<T>(...words: readonly string[]): Promise<T> {
  const client = await createClient({ url: server.url }).connect()
  try {
    return await client.sendCommand<T>(words)
  } finally {
    client.destroy()
  }
}
/** Polls until it holds; the test's own time limit ends it. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await sleep(10)
}
const unavailable = { reason: 'storeUnavailable' }

test('after a kill −9 acknowledged writes are there, and the same store finds the new server', async () => {
  const clock = fakeClock()
  const store = open({ clock, deadlineMs: 1_000 })
  const keys = await Promise.all(Array.from({ length: 200 }, (_, i) => store.append(['log'], String(i))))
  await server.kill()
  for (let i = 0; i < 5; i++) await expect(store.set(['a'], '1')).rejects.toMatchObject(unavailable)
  await server.start()
  await eventually(async () => {
    await clock.advance(200)
    return (await store.get(['a'])) === undefined
  })
  expect((await store.list(['log'], { limit: 1000 })).map(({ key }) => key)).toEqual(keys)
})

test('a server that stops answering costs one deadline, then nothing, and is found again', async () => {
  const clock = fakeClock()
  const store = open({ clock, deadlineMs: 1_000 })
  await store.set(['a'], '1')
  server.pause()
  try {
    const first = expect(store.get(['a'])).rejects.toMatchObject(unavailable)
    await clock.advance(999)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    await first
    // Not one deadline each: a limiter that falls back to a local bucket must not slow down every call.
    for (let i = 0; i < 5; i++)
      await expect(store.take(['b'], { burst: 1, perSecond: 1 })).rejects.toMatchObject(unavailable)
  } finally {
    server.resume()
  }
  await eventually(async () => {
    await clock.advance(200)
    return (await store.get(['a'])) === '1'
  })
})

test('a process that was busy itself does not treat its server as dead', async () => {
  const clock = fakeClock()
  const store = open({ clock, deadlineMs: 1_000 })
  await store.set(['a'], '1')
  const asked = store.get(['a'])
  clock.jump(60_000)
  expect(await asked).toBe('1')
})

test('a server that sends a byte now and then is dropped like a silent one', async () => {
  const drip = createServer((socket) => {
    const timer = setInterval(() => socket.write('$'), 20)
    socket.on('close', () => clearInterval(timer)).on('error', () => {})
  })
  const store = open({ url: `redis://127.0.0.1:${await portOf(drip)}`, deadlineMs: 200 })
  await expect(store.get(['a'])).rejects.toMatchObject(unavailable)
})

test('no server, an unknown name, a wrong password: refused, in our words', async () => {
  const guarded = await startRedis(['--requirepass', 'secret'])
  closing.push(() => guarded.stop())
  for (const url of [
    'redis://127.0.0.1:1',
    'redis://nowhere.invalid',
    guarded.url,
    guarded.url.replace('//', '//:x@'),
  ]) {
    const message = expect.stringMatching(/^The store is (unavailable|refusing our credentials)$/)
    await expect(open({ url, deadlineMs: 1_000 }).get(['a'])).rejects.toMatchObject({ ...unavailable, message })
  }
  // Settings that a URL need not contain come with a client, which stays the caller's.
  const client = createClient({ url: guarded.url, password: 'secret' })
  const store = open({ client })
  await store.set(['a'], '1')
  expect([await store.get(['a']), client.isOpen]).toEqual(['1', false])
})

test('a full Redis refuses writes completely, and still reads and deletes', async () => {
  const store = open()
  await store.set(['a'], '1', 60_000)
  await store.append(['log'], '1')
  await ask('CONFIG', 'SET', 'maxmemory', '1mb')
  try {
    const full = { ...unavailable, message: 'The store is full' }
    await expect(store.set(['b'], 'x')).rejects.toMatchObject(full)
    await expect(store.append(['log'], '2')).rejects.toMatchObject(full)
    await expect(store.swap(['a'], '1', '2')).rejects.toMatchObject(full)
    await expect(store.take(['t'], { burst: 1, perSecond: 1 })).rejects.toMatchObject(full)
    expect((await store.list([], { limit: 9 })).map(({ value }) => value)).toEqual(['1', '1'])
    await store.delete(['a'])
    expect(await store.get(['a'])).toBeUndefined()
  } finally {
    await ask('CONFIG', 'SET', 'maxmemory', '0')
  }
  expect(await store.swap(['b'], undefined, 'x')).toBe(true)
})

test('a replica, a cluster without slots: refused with storeUnavailable', async () => {
  // By default a cluster also takes the port 10 000 above its own, which may not exist.
  const clusterPort = ['--cluster-port', String(await freePort())]
  const [store, cluster] = [open(), await startRedis(['--cluster-enabled', 'yes', ...clusterPort])]
  closing.push(() => cluster.stop())
  await expect(open({ url: cluster.url }).set(['a'], '1')).rejects.toMatchObject({
    ...unavailable,
    message: 'The store is a cluster that is down',
  })
  await store.set(['a'], '1')
  await ask('REPLICAOF', '127.0.0.1', '1')
  try {
    await expect(store.set(['a'], '2')).rejects.toMatchObject({ ...unavailable, message: 'The store is read-only' })
    await expect(checkRedisDurability({ url: server.url })).rejects.toThrow('replica')
  } finally {
    await ask('REPLICAOF', 'NO', 'ONE')
  }
})

test('after a failover nothing stays with the server that became a replica: writes, reads and messages', async () => {
  const pair = await startRedisPair()
  closing.push(() => pair.stop())
  const clock = fakeClock()
  const options = { url: pair.url, clock, deadlineMs: 20_000 }
  const [writer, reader] = [open({ ...options, prefix: 'one' }), open({ ...options, prefix: 'one' })]
  const [bus, other] = [redisBus(options), redisBus(options)]
  closing.push(
    () => bus.close(),
    () => other.close(),
  )
  const received: string[] = []
  bus.subscribe('news', (message) => received.push(message))
  await writer.set(['a'], 'old')
  expect(await reader.get(['a'])).toBe('old')
  await eventually(async () => {
    await other.publish('news', 'before')
    return received.includes('before')
  })
  await pair.failOver()
  await expect(writer.set(['a'], 'new')).rejects.toMatchObject({ ...unavailable, message: 'The store is read-only' })
  // The next call opens a connection to the new primary.
  await writer.set(['a'], 'new')
  // A store that only reads would see old values for ever, and a bus that only publishes would reach no process.
  await eventually(async () => {
    await clock.advance(1000)
    await reader.get(['a']).catch(() => undefined)
    await other.publish('news', 'after').catch(() => undefined)
    return received.includes('after')
  })
  await pair.detach()
  await writer.set(['a'], 'newest')
  expect(await reader.get(['a'])).toBe('newest')
})

test('a server that is a replica from the start is not read from', async () => {
  const replica = await startRedis(['--replicaof', '127.0.0.1 1'])
  closing.push(() => replica.stop())
  await expect(open({ url: replica.url }).get(['a'])).rejects.toMatchObject({
    ...unavailable,
    message: expect.stringMatching(/^The store is (read-only|a replica without its primary)$/),
  })
  await expect(open({ url: replica.url }).checkDurability?.()).rejects.toThrow(
    'it is a replica: connect to the primary',
  )
})

test('scripts that Redis has lost are sent again', async () => {
  const store = open()
  for (let i = 0; i < 3; i++) {
    await ask('SCRIPT', 'FLUSH')
    const [won, wait] = await Promise.all([
      store.swap(['a', String(i)], undefined, 'x'),
      store.take(['t', String(i)], { burst: 1, perSecond: 1 }),
      store.append(['log'], 'x'),
    ])
    expect([won, wait]).toEqual([true, 0])
  }
  expect(await store.list(['log'], { limit: 9 })).toHaveLength(3)
})

test('a bucket always expires, and the index drops expired keys', async () => {
  const store = open()
  const buckets = [1, 3, 1000].map((perSecond) => ({ burst: 5, perSecond }))
  await Promise.all(buckets.map((bucket, i) => store.take([String(i)], bucket)))
  await Promise.all(buckets.flatMap((bucket, i) => Array.from({ length: 9 }, () => store.take([String(i)], bucket))))
  const names = await ask<string[]>('KEYS', `{f${opened}}:b:*`)
  expect(names.length).toBeGreaterThan(1)
  for (const name of names) expect(await ask<number>('PTTL', name)).not.toBe(-1)
  await Promise.all(Array.from({ length: 40 }, (_, i) => store.set(['k', String(i)], 'x', 1)))
  const size = (): Promise<number> => ask('ZCARD', `{f${opened}}:index`)
  await eventually(async () => {
    await store.set(['stays'], 'x')
    return (await size()) === 1
  })
  // A key whose expiry was removed must not block what follows.
  for (const ttlMs of [60_000, undefined]) await store.set(['stays'], 'x', ttlMs)
  expect(await ask<number>('ZCARD', `{f${opened}}:until`)).toBe(0)
})

test('a list finds its page behind tens of thousands of expired keys', async () => {
  const store = open()
  const index = `{f${opened}}:index`
  await store.set(['z'], 'alive')
  const dead = Array.from({ length: 25_000 }, (_, i) => ['0', `\u0001a${i}\u0001`]).flat()
  await ask('ZADD', index, ...dead)
  expect(await store.list([], { limit: 5 })).toEqual([{ key: ['z'], value: 'alive' }])
})

test('prefixes are separate, and one that could reach another is refused', async () => {
  const [a, b] = [open(), open()]
  await a.set(['k'], 'of a')
  expect([await b.get(['k']), await b.list([], { limit: 9 })]).toEqual([undefined, []])
  for (const prefix of ['', 'a:b', 'a}', 'a b']) expect(() => redisStore({ url: server.url, prefix })).toThrow('prefix')
})

test('a value too large for the shared connection is refused before it is sent', async () => {
  const store = open()
  const large = 'x'.repeat(16 * 1024 * 1024 + 1)
  await expect(store.set(['a'], large)).rejects.toMatchObject({ reason: 'payloadTooLarge' })
  await expect(store.append(['a'], large)).rejects.toMatchObject({ reason: 'payloadTooLarge' })
})

test('a closed store refuses', async () => {
  const store = open()
  await store.set(['a'], '1')
  const under = store.get(['a'])
  await store.close()
  expect(await under).toBe('1')
  await expect(store.get(['a'])).rejects.toMatchObject({ ...unavailable, message: 'The store is closed' })
})

test('closing does not wait for ever for a silent server', async () => {
  const store = open({ deadlineMs: 300 })
  await store.set(['a'], '1')
  server.pause()
  try {
    const under = store.get(['a']).catch((thrown: unknown) => thrown)
    await store.close()
    expect(await under).toMatchObject(unavailable)
  } finally {
    server.resume()
  }
})

test('only a durable Redis is accepted for tickets, and for the others the message says what to set', async () => {
  const check = (): Promise<readonly string[]> => checkRedisDurability({ url: server.url })
  await ask('CONFIG', 'SET', 'appendfsync', 'always')
  expect(await check()).toEqual([])
  await ask('CONFIG', 'SET', 'appendfsync', 'everysec')
  expect(await check()).toEqual([expect.stringContaining('appendfsync is everysec')])
  await ask('CONFIG', 'SET', 'appendfsync', 'always')
  for (const policy of ['allkeys-lru', 'volatile-ttl']) {
    await ask('CONFIG', 'SET', 'maxmemory-policy', policy)
    await expect(check()).rejects.toThrow('CONFIG SET maxmemory-policy noeviction')
  }
  await ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  await ask('CONFIG', 'SET', 'appendonly', 'no')
  await expect(check()).rejects.toThrow('CONFIG SET appendonly yes')
  await ask('CONFIG', 'SET', 'appendonly', 'yes')
})

test('a bus recovers after its server was killed, and after it was silent', async () => {
  const clock = fakeClock()
  const bus = redisBus({ url: server.url, prefix: 'bus', clock })
  closing.push(() => bus.close())
  const received: string[] = []
  bus.subscribe('a', (message) => received.push(message))
  let said = 0
  /** Publishes until a message arrives. */
  const hearsAgain = (): Promise<void> => {
    const before = said
    return eventually(async () => {
      await clock.advance(100)
      await ask('PUBLISH', '{bus}:bus:a', String(++said))
      return received.some((word) => Number(word) > before)
    })
  }
  await hearsAgain()
  await server.kill()
  await server.start()
  await hearsAgain()
  server.pause()
  // A heartbeat and the deadline of its answer: the connection is dropped.
  await clock.advance(2000)
  server.resume()
  await hearsAgain()
  expect(received).toEqual([...new Set(received)])
})

async function portOf(listener: Server): Promise<number> {
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => listener.close())
  const address = listener.address()
  return address && typeof address === 'object' ? address.port : 0
}
