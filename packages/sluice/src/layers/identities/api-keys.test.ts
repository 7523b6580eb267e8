import { expect, test, vi } from 'vitest'
import type { Store } from '../../core/store.ts'
import { memoryStore } from '../../stores/memory.ts'
import { memoryBus } from '../../stores/memory-bus.ts'
import { aCall } from '../../testing/call.ts'
import { fakeClock } from '../../testing/clock.ts'
import type { ApiKeyAdmin } from './api-keys.ts'
import { apiKeys } from './api-keys.ts'

const start = Date.UTC(2026, 10, 16)
function setUp(wrap: (store: Store) => Store = (store) => store) {
  const clock = fakeClock(start)
  const plain = memoryStore(clock)
  const store = wrap(plain)
  const keys = apiKeys(store, { clock })
  const verify = (secret: string) => keys.verify(secret, aCall())
  return { clock, store, plain, keys, verify }
}
const terms = { subject: 'ann', scopes: ['read', 'write'], tenants: ['acme'], label: 'nightly' }

test('a key identifies its subject, scopes and tenants', async () => {
  const { keys, verify } = setUp()
  const { secret, key } = await keys.create({ ...terms, expires: start + 1000 })
  expect(await verify(secret)).toEqual({
    subject: 'ann',
    credential: `key ${key.id}`,
    scopes: new Set(['read', 'write']),
    claims: { sub: 'ann', tenants: ['acme'], label: 'nightly' },
    expires: start + 1000,
  })
})

test('keys have a readable prefix and 192 random bits, and never repeat', async () => {
  const { keys } = setUp()
  const made = await Promise.all(Array.from({ length: 50 }, () => keys.create({ subject: 'ann' })))
  for (const { secret, key } of made) {
    expect(secret).toMatch(/^sk_[0-9a-f]{48}$/)
    expect(key.prefix).toBe(secret.slice(0, 11))
  }
  expect(new Set(made.map(({ secret }) => secret)).size).toBe(50)
})

test('the store never sees a key, neither when it is created nor when it is used or listed', async () => {
  const seen: unknown[] = []
  const { keys, verify } = setUp(
    (store) =>
      new Proxy(store, {
        get:
          (target, verb: keyof Store) =>
          async (...args: never[]) => {
            // @ts-expect-error: each verb gets its own arguments
            const result: unknown = await target[verb](...args)
            seen.push(verb, args, result)
            return result
          },
      }),
  )
  const { secret, key } = await keys.create(terms)
  await verify(secret)
  const listed = await keys.list()
  await keys.revoke(key.id)
  expect(seen.length).toBeGreaterThan(9)
  // Its first eight digits are shown on purpose; nothing after them is.
  expect(JSON.stringify([seen, listed, key])).not.toContain(secret.slice(11, 19))
})

test.each<[string, (secret: string) => string]>([
  ['wrong in its last digit', (secret) => secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')],
  ['wrong in its first', (secret) => `sk_${secret[3] === '0' ? '1' : '0'}${secret.slice(4)}`],
  ['in capitals', (secret) => `sk_${secret.slice(3).toUpperCase()}g`.slice(0, secret.length)],
  ['cut short', (secret) => secret.slice(0, -1)],
  ['longer', (secret) => `${secret}0`],
  ['without its prefix', (secret) => secret.slice(3)],
  ['with another prefix', (secret) => `pk_${secret.slice(3)}`],
  ['its shown part', (secret) => secret.slice(0, 11)],
  ['empty', () => ''],
])('a key that is %s opens nothing', async (_, change) => {
  const { keys, verify } = setUp()
  const { secret } = await keys.create(terms)
  const changed = change(secret)
  if (changed !== secret) expect(await verify(changed)).toBeUndefined()
})

test('neither an id nor a hash opens anything', async () => {
  const { keys, verify, plain } = setUp()
  const { key } = await keys.create(terms)
  const [entry] = await plain.list(['api-keys'], { limit: 1 })
  const hash = entry?.key[1] ?? ''
  for (const token of [key.id, hash, `sk_${hash}`, `sk_${hash.slice(0, 48)}`])
    expect(await verify(token)).toBeUndefined()
})

test('wrong, revoked, expired and broken keys make the same store requests and get the same answer', async () => {
  const verbs: string[] = []
  const { keys, verify, clock, plain } = setUp((store) => ({
    ...store,
    get(key) {
      verbs.push('get')
      return store.get(key)
    },
    swap(...args) {
      verbs.push('swap')
      return store.swap(...args)
    },
  }))
  const revoked = await keys.create(terms)
  await keys.revoke(revoked.key.id)
  const expired = await keys.create({ ...terms, expires: start + 1 })
  const broken = await keys.create(terms)
  for (const { key, value } of await plain.list(['api-keys'], { limit: 9 }))
    if (key[1]?.startsWith(broken.key.id)) await plain.set(key, value.replace('"scopes":[', '"scopes":[5,'))
  await clock.advance(1)
  verbs.length = 0
  for (const secret of [`sk_${'0'.repeat(48)}`, revoked.secret, expired.secret, broken.secret]) {
    expect(await verify(secret)).toBeUndefined()
    expect(verbs.splice(0)).toEqual(['get'])
  }
})

test('a revoked key stops working within five seconds, on every process', async () => {
  const { keys, verify, clock, store } = setUp()
  const other = apiKeys(store, { clock })
  const { secret, key } = await keys.create(terms)
  expect(await verify(secret)).toBeDefined()
  expect(await other.verify(secret, aCall())).toBeDefined()
  expect(await other.revoke(key.id)).toBe(true)
  await clock.advance(5_000)
  expect(await verify(secret)).toBeUndefined()
  expect(await other.verify(secret, aCall())).toBeUndefined()
})

test('within those five seconds the store is read once', async () => {
  const get = vi.fn<Store['get']>()
  const { keys, verify } = setUp((store) => ({ ...store, get: get.mockImplementation(store.get) }))
  const { secret } = await keys.create(terms)
  for (let i = 0; i < 10; i++) await verify(secret)
  expect(get).toHaveBeenCalledTimes(1)
})

test('a key ends when it expires, cached or not', async () => {
  const { keys, verify, clock } = setUp()
  const { secret } = await keys.create({ ...terms, expires: start + 2_000 })
  expect(await verify(secret)).toBeDefined()
  await clock.advance(2_000)
  expect(await verify(secret)).toBeUndefined()
})

test('the list shows everything but the key, page by page, including revoked ones', async () => {
  const { keys, verify, clock } = setUp()
  const made = await Promise.all(Array.from({ length: 250 }, (_, i) => keys.create({ subject: `s${i}` })))
  const [first] = made
  await verify(first?.secret ?? '')
  await clock.advance(10)
  await keys.revoke(first?.key.id ?? '')
  const listed = []
  for (let after: string | undefined; ; ) {
    const page = await keys.list({ limit: 90, ...(after !== undefined && { after }) })
    listed.push(...page)
    after = page.at(-1)?.id
    if (page.length < 90) break
  }
  expect(new Set(listed.map(({ subject }) => subject)).size).toBe(250)
  expect(listed).toHaveLength(250)
  expect(listed.find(({ id }) => id === first?.key.id)).toEqual({
    ...first?.key,
    lastUse: start,
    revoked: start + 10,
  })
})

test('last use is recorded once a minute, and does not fail the call', async () => {
  const swap = vi.fn()
  const { keys, verify, clock } = setUp((store) => ({
    ...store,
    swap(...args) {
      swap()
      return args[1] === undefined ? store.swap(...args) : Promise.reject(new Error('read-only'))
    },
  }))
  const { secret } = await keys.create(terms)
  expect(await verify(secret)).toBeDefined()
  expect(swap).toHaveBeenCalledTimes(2)
  const healthy = setUp()
  const made = await healthy.keys.create(terms)
  for (let i = 0; i < 24; i++) {
    await healthy.verify(made.secret)
    await healthy.clock.advance(5_000)
  }
  expect((await healthy.keys.list())[0]?.lastUse).toBe(start + 60_000)
  await clock.advance(1)
})

test('revoking and using a key at the same time leaves it revoked', async () => {
  for (let i = 0; i < 20; i++) {
    const { keys, verify, clock } = setUp()
    const { secret, key } = await keys.create(terms)
    await Promise.all([verify(secret), keys.revoke(key.id), verify(secret), keys.revoke(key.id)])
    await clock.advance(5_000)
    expect(await verify(secret)).toBeUndefined()
    expect((await keys.list())[0]?.revoked).toBe(start)
  }
})

test.each(['', 'x', '0'.repeat(16), '0'.repeat(15), 'z'.repeat(16), `${'0'.repeat(16)}0`])(
  'revoking %j, which is not the id of a key, revokes nothing',
  async (id) => {
    const { keys, verify } = setUp()
    const { secret } = await keys.create(terms)
    expect(await keys.revoke(id)).toBe(false)
    expect(await verify(secret)).toBeDefined()
  },
)

test.each<[string, Store['get']]>([
  ['down', () => Promise.reject(new Error('ECONNREFUSED 10.0.0.7'))],
  ['hanging', () => new Promise(() => {})],
])('a store that is %s admits no caller, and the refusal has no details', async (_, broken) => {
  const get = vi.fn(broken)
  const { verify, clock } = setUp((store) => ({ ...store, get }))
  const asked = verify(`sk_${'0'.repeat(48)}`).catch((thrown: unknown) => thrown)
  await expect.poll(() => get.mock.calls.length).toBeGreaterThan(0)
  await clock.advance(5_000)
  expect(await asked).toMatchObject({
    reason: 'storeUnavailable',
    message: 'API keys cannot be checked right now: try again later',
    data: {},
  })
})

test.each<[string, object]>([
  ['subject', { subject: '' }],
  ['scopes', { subject: 'ann', scopes: ['two words'] }],
  ['expires', { subject: 'ann', expires: start }],
  ['expires', { subject: 'ann', expires: Number.NaN }],
])('a key is not created with a wrong %s', async (text, terms) => {
  const { keys } = setUp()
  await expect(keys.create(terms as Parameters<ApiKeyAdmin['create']>[0])).rejects.toThrow(text)
  expect(await keys.list()).toEqual([])
})

test.each(['', 'sk', '_', 's k_', 'sk.'])('the prefix %j is refused', (prefix) => {
  expect(() => apiKeys(memoryStore(), { prefix })).toThrow('prefix')
})

/**
 * Every verb of the interface, called for one tenant with the data of another. A new verb does not compile until it has
 * a line here.
 */
const foreign: { readonly [verb in keyof ApiKeyAdmin]: (admin: ApiKeyAdmin, id: string) => Promise<unknown> } = {
  create: async (admin, id) => (await admin.create({ subject: id, tenants: ['acme'] })).key.tenants,
  list: (admin) => admin.list(),
  get: (admin, id) => admin.get(id),
  change: (admin, id) => admin.change(id, { scopes: ['everything'] }),
  revoke: (admin, id) => admin.revoke(id),
}
const unknown: { readonly [verb in keyof ApiKeyAdmin]: unknown } = {
  create: ['other'],
  list: [],
  get: undefined,
  change: false,
  revoke: false,
}

test.each(Object.keys(foreign) as (keyof ApiKeyAdmin)[])(
  '%s for one tenant does not reach the keys of another',
  async (verb) => {
    const { keys, verify, clock } = setUp()
    const theirs = await keys.create(terms)
    const shared = await keys.create({ ...terms, tenants: ['acme', 'other'] })
    const unscoped = await keys.create({ subject: 'root' })
    for (const { key } of [theirs, shared, unscoped])
      expect(await foreign[verb](keys.forTenant('other'), key.id)).toEqual(unknown[verb])
    await clock.advance(5_000)
    for (const { secret } of [theirs, shared, unscoped]) expect(await verify(secret)).toBeDefined()
  },
)

test('the scopes of a key can be changed while it is valid, and not after', async () => {
  const { keys, verify, clock } = setUp()
  const { secret, key } = await keys.create({ ...terms, scopes: ['a', 'b'] })
  expect(await keys.change(key.id, { scopes: ['a'] })).toBe(true)
  await clock.advance(5_000)
  expect((await verify(secret))?.scopes).toEqual(new Set(['a']))
  expect(await keys.get(key.id)).toMatchObject({ id: key.id, scopes: ['a'] })
  await expect(keys.change(key.id, { scopes: ['two words'] })).rejects.toThrow('scopes')
  await keys.revoke(key.id)
  expect(await keys.change(key.id, { scopes: ['a', 'b'] })).toBe(false)
})

test('a tenant manages its own keys', async () => {
  const { keys, verify, clock } = setUp()
  const tenantKeys = keys.forTenant('acme')
  const { secret, key } = await tenantKeys.create({ subject: 'ann' })
  expect(await verify(secret)).toMatchObject({ claims: { tenants: ['acme'] } })
  expect(await tenantKeys.list()).toMatchObject([{ id: key.id, subject: 'ann', tenants: ['acme'] }])
  expect(await tenantKeys.revoke(key.id)).toBe(true)
  await clock.advance(5_000)
  expect(await verify(secret)).toBeUndefined()
})

test('with a bus, a change in another process applies at once, and listeners are notified', async () => {
  const { store, clock } = setUp()
  const bus = memoryBus()
  const [here, elsewhere] = [apiKeys(store, { clock, bus }), apiKeys(store, { clock, bus })]
  const { secret, key } = await here.create(terms)
  const scopes = async (): Promise<unknown> => (await here.verify(secret, aCall()))?.scopes
  const notified: string[] = []
  const unsubscribe = here.onChange?.((credential) => notified.push(credential))
  expect(await scopes()).toEqual(new Set(['read', 'write']))
  expect(await elsewhere.change(key.id, { scopes: ['read'] })).toBe(true)
  expect(await scopes()).toEqual(new Set(['read']))
  expect(await elsewhere.revoke(key.id)).toBe(true)
  expect(await scopes()).toBeUndefined()
  expect(notified).toEqual([`key ${key.id}`, `key ${key.id}`])
  unsubscribe?.()
  await elsewhere.revoke(key.id)
  expect(notified).toHaveLength(2)
})

test('an unavailable bus does not keep a key from being revoked', async () => {
  const { store, clock } = setUp()
  const bus = { publish: () => Promise.reject(new Error('away')), subscribe: () => () => {} }
  const keys = apiKeys(store, { clock, bus })
  const { secret, key } = await keys.create(terms)
  await keys.verify(secret, aCall())
  expect(await keys.revoke(key.id)).toBe(true)
  expect(await keys.verify(secret, aCall())).toBeUndefined()
})
