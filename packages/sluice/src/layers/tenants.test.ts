import { expect, test } from 'vitest'
import type { Call, Caller, Tenant } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import type { LogLine } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { aCall } from '../testing/call.ts'
import { fakeClock } from '../testing/clock.ts'
import { createTenants } from './tenant-registry.ts'
import type { TenantsOptions } from './tenants.ts'
import { tenantsLayer } from './tenants.ts'

function make(options: Partial<TenantsOptions> = {}) {
  const clock = fakeClock()
  const store = memoryStore(clock)
  const lines: LogLine[] = []
  const push = (line: LogLine): void => {
    lines.push(line)
  }
  const registry = createTenants({ store, logger: { info: push, warn: push, error: push } })
  let seen: Tenant | undefined
  const serve = tenantsLayer(
    { claim: 'tenants', ...options },
    registry,
  )(async (call) => {
    seen = call.tenant
    return { tenant: call.tenant.id }
  })
  return { serve, store, lines, tenants: registry, seen: () => seen as Tenant }
}
const by = (claims: Caller['claims'], headers: { [name: string]: string } = {}): Call =>
  aCall({
    caller: { ...anonymous, subject: 'ann', credential: 'jwt', claims },
    via: { transport: 'http', peer: '', header: (name) => headers[name] },
  })

test('the tenant is the one in the verified claim, and it is logged', async () => {
  const { serve } = make()
  const call = by({ tenants: 'acme' })
  await expect(serve(call)).resolves.toEqual({ tenant: 'acme' })
  expect(call.facts['tenant']).toBe('acme')
})

test('a function of the caller can name it too', async () => {
  const { serve } = make({ claim: ({ subject }) => `of-${subject}` })
  await expect(serve(by({}))).resolves.toEqual({ tenant: 'of-ann' })
})

test('a member of several chooses with the header, among memberships only', async () => {
  const { serve } = make()
  const claims = { tenants: ['acme', 'globex'] }
  await expect(serve(by(claims, { 'x-tenant': 'globex' }))).resolves.toEqual({ tenant: 'globex' })
  await expect(serve(by(claims, { 'x-tenant': 'initech' }))).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(serve(by(claims, { 'x-tenant': 'acme, globex' }))).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(serve(by(claims, { 'x-tenant': '' }))).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(serve(by(claims))).rejects.toMatchObject({ reason: 'forbidden' })
})

test('the header can have another name', async () => {
  const { serve } = make({ header: 'X-Org' })
  await expect(serve(by({ tenants: ['a', 'b'] }, { 'x-org': 'b' }))).resolves.toEqual({ tenant: 'b' })
})

test('without headers _meta chooses, among memberships only', async () => {
  const { serve } = make()
  const key = 'dev.sluice/tenant'
  const choosing = (chosen: unknown, headers = {}): Call => ({
    ...by({ tenants: ['acme', 'globex'] }, headers),
    meta: { [key]: chosen },
  })
  await expect(serve(choosing('globex'))).resolves.toEqual({ tenant: 'globex' })
  await expect(serve(choosing('globex', { 'x-tenant': 'globex' }))).resolves.toEqual({ tenant: 'globex' })
  for (const foreign of ['initech', '', 'acme ', 5, null, ['acme'], {}])
    await expect(serve(choosing(foreign)), String(foreign)).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(serve(choosing('globex', { 'x-tenant': 'acme' }))).rejects.toMatchObject({ reason: 'forbidden' })
})

test('the user who starts the process chooses for its pipe, among memberships, and for nothing else', async () => {
  const { serve } = make({ stdioTenant: 'globex' })
  const over = (transport: Call['via']['transport'], claims: Caller['claims'], meta = {}): Call => ({
    ...by(claims),
    meta,
    via: { transport, peer: '', header: () => undefined },
  })
  const both = { tenants: ['acme', 'globex'] }
  await expect(serve(over('stdio', both))).resolves.toEqual({ tenant: 'globex' })
  await expect(serve(over('stdio', both, { 'dev.sluice/tenant': 'acme' }))).resolves.toEqual({ tenant: 'acme' })
  await expect(serve(over('stdio', { tenants: 'acme' }))).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(serve(over('http', both))).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(make({ stdioTenant: '' }).serve(over('stdio', { tenants: 'acme' }))).resolves.toEqual({ tenant: 'acme' })
})

test('a header that names another tenant is refused even with one membership', async () => {
  const { serve } = make()
  await expect(serve(by({ tenants: 'acme' }, { 'x-tenant': 'globex' }))).rejects.toMatchObject({ reason: 'forbidden' })
})

test('the same membership twice is one', async () => {
  await expect(make().serve(by({ tenants: ['acme', 'acme'] }))).resolves.toEqual({ tenant: 'acme' })
})

test.each([
  undefined,
  null,
  '',
  [],
  42,
  {},
  [['acme']],
  'a/b',
  'a b',
  '../acme',
  'acme\n',
  'ac\u0000me',
  '-acme',
  'ａcme',
  'x'.repeat(129),
])('a claim of %j is not a tenant, and nothing runs without one', async (claim) => {
  const { serve, seen } = make()
  await expect(serve(by({ tenants: claim }))).rejects.toMatchObject({ reason: 'forbidden' })
  await expect(serve(by({ tenants: claim }, { 'x-tenant': 'acme' }))).rejects.toMatchObject({ reason: 'forbidden' })
  expect(seen()).toBeUndefined()
})

test('a claim is looked up among own properties, not inherited ones', async () => {
  await expect(make({ claim: 'constructor' }).serve(by({}))).rejects.toMatchObject({ reason: 'forbidden' })
})

test('a function that throws admits no caller', async () => {
  const { serve } = make({
    claim: () => {
      throw new Error('away')
    },
  })
  await expect(serve(by({}))).rejects.toThrow('away')
})

test('a public call has a tenant that can store nothing, and no header gives it one', async () => {
  const { serve, seen } = make()
  const via: Call['via'] = { transport: 'http', peer: '', header: () => 'acme' }
  await expect(serve(aCall({ via }))).resolves.toEqual({ tenant: '' })
  const { store } = seen()
  for (const verb of Object.values(store))
    await expect(verb(['k'], 'v', 'w')).rejects.toMatchObject({ reason: 'forbidden' })
})

/** One line per verb, so that a new verb does not compile until its line says what it must not reach. */
type Verb = Exclude<keyof Store, 'shared' | 'checkDurability' | 'inProcess' | 'isAbsent'>
const foreign: { readonly [verb in Verb]: (b: Store) => Promise<unknown> } = {
  get: (b) => b.get(['k']),
  set: (b) => b.set(['k'], 'of b'),
  swap: (b) => b.swap(['k'], 'of a', 'of b'),
  delete: (b) => b.delete(['k']),
  take: (b) => b.take(['bucket'], { burst: 1, perSecond: 0.001 }),
  append: (b) => b.append(['log'], 'of b'),
  list: (b) => b.list([], { limit: 100 }),
}
test.each(Object.keys(foreign) as Verb[])('%s with the names of another tenant does not reach it', async (verb) => {
  const { tenants, store } = make()
  const [a, b] = [tenants.of('a').store, tenants.of('b').store]
  await a.set(['k'], 'of a')
  await a.append(['log'], 'of a')
  await a.take(['bucket'], { burst: 1, perSecond: 0.001 })
  const nothing = { get: undefined, set: undefined, swap: false, delete: undefined, take: 0, list: [] }
  const answer = await foreign[verb](b)
  if (verb !== 'append') expect(answer).toEqual(nothing[verb])
  expect(JSON.stringify(answer ?? null)).not.toContain('of a')
  expect(await a.get(['k'])).toBe('of a')
  expect((await a.list(['log'], { limit: 9 })).map(({ value }) => value)).toEqual(['of a'])
  const { inProcess: _, ...verbs } = store
  expect(Object.keys(foreign).sort()).toEqual(Object.keys(verbs).sort())
})

test('the logger adds the tenant, whatever the line contains', () => {
  const { tenants, lines } = make()
  const { logger } = tenants.of('a')
  logger.info({ event: 'e', tenant: 'b' })
  logger.warn({ event: 'e' })
  logger.error({ event: 'e' })
  expect(lines.map((line) => line['tenant'])).toEqual(['a', 'a', 'a'])
})

test('a tenant is created once, and dropping it does no harm', async () => {
  const { tenants } = make()
  const first = tenants.of('a')
  expect(tenants.of('a')).toBe(first)
  await first.store.set(['k'], 'v')
  for (let i = 0; i < 10_000; i++) tenants.of(`t${i}`)
  expect(await tenants.of('a').store.get(['k'])).toBe('v')
})

test('the tools of a tenant are read on every call, also on public ones', async () => {
  let has = new Set(['x'])
  const { serve, seen } = make({ tools: (id) => (id === undefined ? new Set() : id === 'big' ? 'all' : has) })
  await serve(by({ tenants: 'acme' }))
  expect(seen().tools).toBe(has)
  has = new Set(['y'])
  await serve(by({ tenants: 'acme' }))
  expect(seen().tools).toBe(has)
  await serve(by({ tenants: 'big' }))
  expect(seen().tools).toBe('all')
  await serve(aCall())
  expect(seen().tools).toEqual(new Set())
})
