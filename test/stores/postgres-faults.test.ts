/**
 * PostgreSQL gone, silent, restarted, read-only, failed over, out of connections: what the store answers, and that it comes
 * back. Where it matters how soon, the store has a clock that stands still: what is refused although no time passes has
 * waited for nothing.
 */

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { PostgresOptions, PostgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { checkPostgresDurability, postgresBus, postgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { fakeClock } from '../../packages/sluice/src/testing/clock.ts'
import type { PostgresServer } from '../kit/processes/postgres.ts'
import { startPostgres } from '../kit/processes/postgres.ts'
import { startPostgresPair } from '../kit/processes/postgres-pair.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 180_000)
afterAll(() => server?.stop())

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
let opened = 0
/** A long deadline by default: a server that gets no processor for a second is not at fault. */
const open = (options: Partial<PostgresOptions> = {}): PostgresStore => {
  const store = postgresStore({ url: server.url, schema: `f${++opened}`, deadlineMs: 20_000, ...options })
  closing.push(() => store.close())
  return store
}
/** A client of the test, past the store. */
async function connect(url = server.url): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  closing.unshift(() => client.end())
  return client
}
async function ask(sql: string): Promise<string> {
  const client = new pg.Client(server.url)
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return String(rows[0]?.[0])
  } finally {
    await client.end()
  }
}
async function configure(sql: string): Promise<void> {
  await ask(sql)
  await ask('SELECT pg_reload_conf()')
}
/** Looks until it holds; the test's own time limit ends it. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await sleep(10)
}
const unavailable = { reason: 'storeUnavailable' }

test('after a kill −9 what was acknowledged is there, and the same store finds the new server', async () => {
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

test('a restart of the server costs the calls in flight, and nothing after it', async () => {
  const [store, bus] = [open(), postgresBus({ url: server.url })]
  closing.push(() => bus.close())
  const received: string[] = []
  bus.subscribe('a', (message) => received.push(message))
  await store.set(['a'], '1')
  expect(await store.take(['t'], { burst: 1, perSecond: 0.001 })).toBe(0)
  await server.restart()
  await eventually(async () => (await store.get(['a'])) === '1')
  expect(await store.take(['t'], { burst: 1, perSecond: 0.001 })).toBeGreaterThan(0)
  await eventually(async () => {
    await bus.publish('a', 'again')
    return received.includes('again')
  })
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
    // Not a deadline each: a limiter that falls back to a local bucket must not slow every call down.
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

test('a process that was busy itself does not take its server for dead', async () => {
  const clock = fakeClock()
  const store = open({ clock, deadlineMs: 1_000 })
  await store.set(['a'], '1')
  const asked = store.get(['a'])
  clock.jump(60_000)
  expect(await asked).toBe('1')
})

test('a server that sends a byte now and then is given up like a silent one', async () => {
  const drip = createServer((socket) => {
    const timer = setInterval(() => socket.write('R'), 20)
    socket.on('close', () => clearInterval(timer)).on('error', () => {})
  })
  const store = open({ url: `postgresql://sluice@127.0.0.1:${await portOf(drip)}/postgres`, deadlineMs: 200 })
  await expect(store.get(['a'])).rejects.toMatchObject(unavailable)
})

test.each([
  ['no server', 'postgresql://sluice@127.0.0.1:1/postgres', 'away'],
  ['no such host', 'postgresql://sluice@nowhere.invalid/postgres', 'away'],
  ['no such database', 'nowhere', 'without its database'],
  ['no such user', 'stranger', 'refusing our credentials'],
])('%s: refused, in our words', async (_, address, state) => {
  const url = address.includes(':')
    ? address
    : address === 'nowhere'
      ? server.url.replace('/postgres?', '/nowhere?')
      : server.url.replace('sluice@', `${address}@`)
  await expect(open({ url, deadlineMs: 5_000 }).get(['a'])).rejects.toMatchObject({
    ...unavailable,
    message: `The store is ${state}`,
  })
})

test('a certificate that cannot be read is read again by the next attempt', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ca-'))
  closing.push(() => rmSync(folder, { recursive: true }))
  const authority = join(folder, 'ca.crt')
  const listener = createServer((socket) => socket.destroy())
  const address = `127.0.0.1:${await portOf(listener)}`
  const clock = fakeClock()
  const store = open({
    url: `postgresql://sluice@${address}/postgres?sslmode=verify-full&sslrootcert=${authority}`,
    clock,
  })
  const unreadable: unknown = expect.objectContaining({ code: 'ENOENT' })
  await expect(store.get(['a'])).rejects.toMatchObject({ ...unavailable, cause: unreadable })
  writeFileSync(authority, '')
  const connected = once(listener, 'connection')
  await clock.advance(200)
  await expect(store.get(['a'])).rejects.toMatchObject(unavailable)
  await connected
})

test('terminated backends cost their own calls; the next ones get new connections', async () => {
  const store = open()
  await Promise.all(Array.from({ length: 20 }, (_, i) => store.set(['k', String(i)], 'x')))
  for (let round = 0; round < 3; round++) {
    await ask(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'sluice'`)
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => store.get(['k', String(i)])))
    for (const each of results)
      if (each.status === 'rejected') expect(each.reason).toMatchObject(unavailable)
      else expect(each.value).toBe('x')
    await eventually(async () => (await store.get(['k', '0'])) === 'x')
  }
})

test('a server that becomes read-only costs the connection, for writes and for reads', async () => {
  const clock = fakeClock()
  const [writer, reader] = [open({ clock, schema: 'shared' }), open({ clock, schema: 'shared' })]
  await writer.set(['a'], '1')
  expect(await reader.get(['a'])).toBe('1')
  await configure('ALTER SYSTEM SET default_transaction_read_only = on')
  try {
    let refusal: unknown
    // Until the setting has reached the server's processes.
    await eventually(async () => {
      refusal = await writer.set(['a'], '1').catch((thrown: unknown) => thrown)
      return refusal !== undefined
    })
    expect(refusal).toMatchObject({ ...unavailable, message: 'The store is read-only' })
    await eventually(async () => {
      await clock.advance(1000)
      return reader.get(['a']).then(
        () => false,
        () => true,
      )
    })
    await expect(checkPostgresDurability({ url: server.url })).rejects.toThrow('read-only')
  } finally {
    await configure('ALTER SYSTEM RESET default_transaction_read_only')
  }
  for (const store of [writer, reader])
    await eventually(async () => {
      await clock.advance(1000)
      return (await store.get(['a'])) === '1'
    })
  await writer.set(['a'], '3')
  expect(await reader.get(['a'])).toBe('3')
})

test('after a failover nothing is lost and nothing stays with the old server: writes, reads and messages', async () => {
  const pair = await startPostgresPair()
  closing.push(() => pair.stop())
  const standby = { ...unavailable, message: 'The store is read-only' }
  // A standby answers reads, with old values.
  await expect(open({ url: pair.standbyUrl }).get(['a'])).rejects.toMatchObject(standby)
  await expect(open({ url: pair.standbyUrl }).checkDurability?.()).rejects.toThrow(
    'it is a standby: connect to the primary',
  )
  const clock = fakeClock()
  const options = { url: pair.url, clock, deadlineMs: 20_000, schema: 'one' }
  const [writer, reader] = [postgresStore(options), postgresStore(options)]
  const [bus, other] = [postgresBus(options), postgresBus(options)]
  for (const each of [writer, reader, bus, other]) closing.unshift(() => each.close())
  const received: string[] = []
  bus.subscribe('news', (message) => received.push(message))
  await Promise.all(Array.from({ length: 50 }, (_, i) => writer.set(['k', String(i)], 'old')))
  expect(await reader.get(['k', '0'])).toBe('old')
  await eventually(async () => {
    await other.publish('news', 'before')
    return received.includes('before')
  })
  await pair.failOver()
  await eventually(async () => {
    await clock.advance(1000)
    await writer.set(['k', '0'], 'new')
    return (await reader.get(['k', '0'])) === 'new'
  })
  expect(await reader.list(['k'], { limit: 100 })).toHaveLength(50)
  await eventually(async () => {
    await clock.advance(1000)
    await other.publish('news', 'after')
    return received.includes('after')
  })
}, 120_000)

test('a row that another session holds makes the verb busy, not the store away', async () => {
  const store = open({ deadlineMs: 500 })
  await store.set(['held'], '1')
  const holder = await connect()
  await holder.query(`BEGIN; SELECT * FROM f${opened}.entries FOR UPDATE`)
  await expect(store.set(['held'], '2')).rejects.toMatchObject({ ...unavailable, message: 'The store is busy' })
  expect(await store.get(['held'])).toBe('1')
  await holder.query('COMMIT')
  expect(await store.swap(['held'], '1', '3')).toBe(true)
})

test('a line of a log is not visible before one that got its position earlier', async () => {
  const store = open()
  await store.set(['made'], '')
  const slow = await connect()
  await slow.query('BEGIN')
  await slow.query({ text: `SELECT f${opened}.append($1, $2, $3)`, values: ['\u0001log\u0001', ['first'], [null]] })
  const second = store.append(['log'], 'second')
  const other = await store.append(['another log'], 'x')
  expect(other).toHaveLength(2)
  expect(await store.list(['log'], { limit: 9 })).toEqual([])
  await slow.query('COMMIT')
  await second
  expect((await store.list(['log'], { limit: 9 })).map(({ value }) => value)).toEqual(['first', 'second'])
})

test('calls that take from the same buckets in different orders do not wait for each other in a circle', async () => {
  const stores = Array.from({ length: 3 }, () => open({ schema: 'circle' }))
  const bucket = { burst: 1_000_000, perSecond: 1 }
  const names = Array.from({ length: 30 }, (_, i) => String(i))
  const takes = stores.flatMap((store, i) =>
    Array.from({ length: 20 }, (_, round) => {
      const order = (i + round) % 2 === 0 ? names : names.toReversed()
      return order.map((name) => store.take([name], bucket))
    }).flat(),
  )
  expect(new Set(await Promise.all(takes))).toEqual(new Set([0]))
  expect(await ask('SELECT sum(1000000 - round(level))::text FROM circle.buckets')).toBe(String(takes.length))
  expect(await ask('SELECT deadlocks::text FROM pg_stat_database WHERE datname = current_database()')).toBe('0')
})

test('with no connection left the store is refused at first, and works with what it has', async () => {
  const store = open()
  await store.set(['a'], '1')
  const others: pg.Client[] = []
  for (;;) {
    const client = new pg.Client(server.url)
    client.on('error', () => {})
    if (
      !(await client.connect().then(
        () => true,
        () => false,
      ))
    )
      break
    others.push(client)
  }
  try {
    await expect(open().get(['a'])).rejects.toMatchObject({
      ...unavailable,
      message: 'The store is out of connections',
    })
    const all = await Promise.all(Array.from({ length: 50 }, () => store.get(['a'])))
    expect(new Set(all)).toEqual(new Set(['1']))
  } finally {
    await Promise.all(others.map((client) => client.end()))
  }
})

test('what has expired is deleted in slices, and buckets that are full again too', async () => {
  const store = open()
  await Promise.all(Array.from({ length: 1000 }, (_, i) => store.set(['k', String(i)], 'x', 1)))
  await Promise.all(Array.from({ length: 600 }, (_, i) => store.take(['b', String(i)], { burst: 1, perSecond: 1000 })))
  await store.take(['stays'], { burst: 1, perSecond: 0.001 })
  const count = (table: string): Promise<string> => ask(`SELECT count(*) FROM f${opened}.${table}`)
  await eventually(async () => {
    await Promise.all(Array.from({ length: 64 }, () => store.set(['stays'], 'x')))
    return (await count('entries')) === '1'
  })
  await eventually(async () => {
    await Promise.all(Array.from({ length: 64 }, () => store.take(['stays'], { burst: 1, perSecond: 0.001 })))
    return (await count('buckets')) === '1'
  })
})

test("another account's function of the same name is not called", async () => {
  await ask('CREATE ROLE mallory LOGIN')
  await ask('GRANT CREATE ON SCHEMA public TO mallory')
  const mallory = await connect(server.url.replace('sluice@', 'mallory@'))
  // Its types are closer to those of the call in `append` than PostgreSQL's own.
  await mallory.query(`CREATE FUNCTION public.hashtextextended(value text, seed integer) RETURNS bigint LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$`)
  closing.unshift(() => mallory.query('DROP FUNCTION public.hashtextextended(text, integer)'))
  expect(await open().append(['log'], 'x')).toHaveLength(2)
})

test('a store whose tables were dropped is unavailable', async () => {
  const store = open()
  await store.set(['a'], '1')
  await ask(`DROP SCHEMA f${opened} CASCADE`)
  const dropped = { ...unavailable, message: 'The store is without its tables' }
  await expect(store.get(['a'])).rejects.toMatchObject(dropped)
  await expect(store.append(['a'], '1')).rejects.toMatchObject(dropped)
})

test('schemas are apart, and a name that is not one is refused', async () => {
  const [a, b] = [open(), open()]
  await a.set(['k'], 'of a')
  expect([await b.get(['k']), await b.list([], { limit: 9 })]).toEqual([undefined, []])
  for (const schema of ['', 'A', 'a b', 'a"; DROP', 'pg_x', 'x'.repeat(64)])
    expect(() => postgresStore({ url: server.url, schema })).toThrow('schema')
})

test('a value or a key that is too large is refused before it is sent; a bucket may have any key', async () => {
  const store = open()
  const large = 'x'.repeat(16 * 1024 * 1024 + 1)
  await expect(store.set(['a'], large)).rejects.toMatchObject({ reason: 'payloadTooLarge' })
  const random = Array.from({ length: 2_500 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 7919) % 20_000))).join('')
  for (const refused of [
    store.set([random], '1'),
    store.get([random]),
    store.append([random], '1'),
    store.list([random], { limit: 1 }),
  ])
    await expect(refused).rejects.toMatchObject({ reason: 'invalidParams' })
  // The longest that is accepted fits into the index, however it compresses.
  await store.set([random.slice(0, 860)], '1')
  expect(await store.get([random.slice(0, 860)])).toBe('1')
  const once = { burst: 1, perSecond: 0.001 }
  expect(await store.take([random], once)).toBe(0)
  expect(await store.take([`${random}2`], once)).toBe(0)
  expect(await store.take([random], once)).toBeGreaterThan(0)
})

test('an idle connection is kept alive before a firewall forgets it', async () => {
  const keepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive')
  closing.push(() => keepAlive.mockRestore())
  await open().set(['a'], '1')
  expect(keepAlive).toHaveBeenCalledWith(true, 30_000)
})

test('a closed store refuses', async () => {
  const store = open()
  await store.set(['a'], '1')
  const under = store.get(['a'])
  await store.close()
  expect(await under).toBe('1')
  await expect(store.get(['a'])).rejects.toMatchObject({ ...unavailable, message: 'The store is closed' })
})

test('closing does not wait forever for a silent server', async () => {
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

test('closing does not wait for the migration of another process', async () => {
  const clock = fakeClock()
  const store = open({ clock })
  const holder = await connect()
  await holder.query(`SELECT pg_advisory_lock(hashtextextended('sluice migration of "f${opened}"', 0))`)
  const refused = expect(store.get(['a'])).rejects.toMatchObject(unavailable)
  await eventually(async () => (await ask('SELECT count(*) FROM pg_locks WHERE NOT granted')) === '1')
  const closed = store.close()
  await clock.advance(20_000)
  await closed
  await refused
})

test('only a server that keeps what it acknowledged is trusted with tickets, and the message says what to set', async () => {
  const store = open()
  await store.set(['a'], '1')
  const check = (): Promise<readonly string[]> | undefined => store.checkDurability?.()
  await expect(check()).rejects.toThrow('ALTER SYSTEM SET fsync = on')
  const durable = await startPostgres(['fsync=on'])
  closing.push(() => durable.stop())
  const [other, schema] = [open({ url: durable.url }), `f${opened}`]
  await other.set(['a'], '1')
  expect(await other.checkDurability?.()).toEqual([])
  const client = await connect(durable.url)
  await client.query('ALTER ROLE sluice SET synchronous_commit = off')
  await expect(other.checkDurability?.()).rejects.toThrow('synchronous_commit = on')
  await client.query('ALTER ROLE sluice RESET synchronous_commit')
  await client.query('ALTER SYSTEM SET full_page_writes = off')
  await client.query('SELECT pg_reload_conf()')
  await eventually(async () => (await other.checkDurability?.())?.[0]?.startsWith('full_page_writes is off') ?? false)
  await client.query(`ALTER TABLE ${schema}.entries SET UNLOGGED`)
  await expect(other.checkDurability?.()).rejects.toThrow('SET LOGGED')
})

test('a bus receives again after its server was killed, and after it was silent', async () => {
  const clock = fakeClock()
  const [bus, other] = [postgresBus({ url: server.url, clock }), postgresBus({ url: server.url })]
  closing.push(
    () => bus.close(),
    () => other.close(),
  )
  const received: string[] = []
  bus.subscribe('a', (message) => received.push(message))
  let sent = 0
  /** Publishes until a message arrives. */
  const receivesAgain = (): Promise<void> => {
    const before = sent
    return eventually(async () => {
      await clock.advance(100)
      await other.publish('a', String(++sent))
      return received.some((word) => Number(word) > before)
    })
  }
  await receivesAgain()
  await server.kill()
  await server.start()
  await receivesAgain()
  server.pause()
  // A heartbeat, and the deadline of its answer: the connection is given up.
  await clock.advance(4000)
  server.resume()
  await receivesAgain()
  expect(received).toEqual([...new Set(received)])
})

test('a subscription to a closed bus starts nothing', async () => {
  const clock = fakeClock()
  const bus = postgresBus({ url: server.url, clock })
  await bus.close()
  bus.subscribe('a', () => {})
  expect(clock.pending).toBe(0)
})

async function portOf(listener: Server): Promise<number> {
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => listener.close())
  const address = listener.address()
  return address && typeof address === 'object' ? address.port : 0
}
