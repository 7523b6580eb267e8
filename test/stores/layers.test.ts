/**
 * What each layer answers while the store is gone, silent, full or read-only, on a real Redis behind a whole server (and on a
 * PostgreSQL, in layers-postgres.test.ts): what needs the store to be sure refuses, what only counts goes on with what it
 * has, and all is well when the store is.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Params, Server, Store } from 'sluice'
import { apiKeys, audit, authenticate, defineServer, rateLimit, tenants, tool } from 'sluice'
import type { AuditOptions } from 'sluice/audit'
import { verifyAudit } from 'sluice/audit'
import { toTransportServer } from 'sluice/extend'
import { createServer, nodeClock } from 'sluice/node'
import { health, idempotency, metrics } from 'sluice/plugins'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { anonymous } from '../../packages/sluice/src/core/call.ts'
import { callOf } from '../kit/clients/valid-messages.ts'
import type { Faulty } from './faulty.ts'
import { startFaulty, states } from './faulty.ts'

let faulty: Faulty
beforeAll(async () => {
  faulty = await startFaulty()
}, 180_000)
afterAll(() => faulty?.stop())

let mend: (() => unknown) | undefined
async function fail(state: string): Promise<void> {
  const fault = faulty.faults[state]
  if (!fault) throw new Error(`No fault is called ${state}`)
  mend = fault.mend
  await fault.fail()
}
async function recover(): Promise<void> {
  await mend?.()
  mend = undefined
}
afterEach(recover)

/** Works without a store, because the other layers are tested. */
const byName = {
  verify: async (token: string) =>
    token.startsWith('sk_') ? undefined : { ...anonymous, subject: token, credential: token, claims: { org: 'acme' } },
}
let made = 0

async function serve(auditOptions: AuditOptions = {}) {
  const store = faulty.open(`layers${++made}`)
  const keys = apiKeys(store)
  const { secret: key } = await keys.create({ subject: 'machine', tenants: ['acme'] })
  const runs: string[] = []
  const named = (name: string) => tool({ name, description: 'Counts its runs', run: () => `run ${runs.push(name)}` })
  const definition = defineServer({
    name: `layers${made}`,
    version: '1',
    tools: [
      ...['plain', 'limited', 'keyed'].map(named),
      tool({
        name: 'keeping',
        description: 'Keeps something for its tenant',
        async run(_, { store: own }) {
          await own.set(['kept'], 'x')
          return 'kept'
        },
      }),
    ],
  })
  const server = createServer(definition, {
    store,
    clock: nodeClock,
    secret: 'a secret of at least thirty-two characters',
    use: [
      authenticate({ verifiers: [byName, keys] }),
      tenants({ claim: ({ claims }) => claims['org'] ?? claims['tenants'] }),
      rateLimit({ tools: { limited: { burst: 3, perSecond: 0.001 } } }),
      idempotency(),
      audit(auditOptions),
      metrics(),
      health(),
    ],
  })
  onTestFinished(async () => {
    await recover()
    await server.close()
    await store.close()
  })
  return { server, store, key, runs }
}

async function call(server: Server, name: string, meta: Params = {}, token = 'ann'): Promise<string> {
  const message = callOf(1, name)
  const params = message['params'] as { _meta: Params }
  const header = (asked: string) => (asked === 'authorization' ? `Bearer ${token}` : undefined)
  const answer = await server.handle(
    { ...message, params: { ...params, _meta: { ...params._meta, ...meta } } },
    { via: { transport: 'memory', peer: '', header } },
  )
  const { result, error } = answer as { result?: Params; error?: { data: Params } }
  return error ? String(error.data['reason']) : result?.['isError'] ? 'isError' : 'done'
}
const readiness = async (server: Server) => (await toTransportServer(server).page('/readyz', '127.0.0.1'))?.status
const key = { 'dev.sluice/idempotencyKey': 'order-1' }
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20)
}

const audited = async (store: Store): Promise<object> => {
  const { head: _, ...verdict } = {
    head: '',
    ...(await verifyAudit(store, 'acme').catch(() => ({ intact: 'unknown' }))),
  }
  return verdict
}

describe.each(states)('while the store is %s', (state) => {
  test('calls that need none of it run, and the limit goes on', async () => {
    const { server, runs } = await serve()
    await fail(state)
    const answers = []
    for (let i = 0; i < 8; i++) answers.push(await call(server, 'limited'))
    expect(answers.filter((each) => each === 'done')).toHaveLength(3)
    expect(answers.slice(3)).toEqual(Array(5).fill('rateLimited'))
    expect(runs).toHaveLength(3)
  }, 60_000)

  test('work under a key is refused before it runs, and runs once when the store is back', async () => {
    const { server, runs } = await serve()
    await fail(state)
    expect(await call(server, 'keyed', key)).toBe('storeUnavailable')
    expect(runs).toEqual([])
    await recover()
    await eventually(async () => (await call(server, 'keyed', key)) === 'done')
    expect(await call(server, 'keyed', key)).toBe('done')
    expect(runs).toEqual(['keyed'])
  }, 60_000)

  test("a tool's store is refused, and the error names the store", async () => {
    const { server } = await serve()
    await fail(state)
    expect(await call(server, 'keeping')).toBe('storeUnavailable')
  }, 60_000)

  test('it is not ready, and is again when the store is back', async () => {
    const { server } = await serve()
    expect(await readiness(server)).toBe(200)
    await fail(state)
    await eventually(async () => (await readiness(server)) === 503)
    expect(await toTransportServer(server).page('/healthz', '127.0.0.1')).toMatchObject({ status: 200 })
    await recover()
    await eventually(async () => (await readiness(server)) === 200)
  }, 60_000)

  test('the audit delays no call, and has every record when the store is back', async () => {
    const { server, store } = await serve()
    await fail(state)
    for (let i = 0; i < 3; i++) expect(await call(server, 'plain')).toBe('done')
    await recover()
    const whole = { intact: true, records: 6 }
    await eventually(async () => isDeepStrictEqual(whole, { ...whole, ...(await audited(store)) }))
  }, 60_000)

  test('a blocking audit refuses what it cannot record', async () => {
    const { server, runs } = await serve({ blocking: true })
    await fail(state)
    expect(await call(server, 'plain')).toBe('storeUnavailable')
    expect(runs).toEqual([])
    await recover()
    await eventually(async () => (await call(server, 'plain')) === 'done')
  }, 60_000)

  test('records above the limit of the queue are dropped and counted', async () => {
    const { server } = await serve({ maxQueued: 4 })
    await fail(state)
    for (let i = 0; i < 6; i++) expect(await call(server, 'plain')).toBe('done')
    const { body } = (await toTransportServer(server).page('/metrics', '127.0.0.1')) ?? { body: '' }
    expect(Number(/^sluice_audit_dropped_total\{server="[^"]+"\} (\d+)$/m.exec(body)?.[1])).toBeGreaterThan(0)
  }, 60_000)
})

test.each(['down', 'silent'])(
  'an unknown API key is refused while the store is %s',
  async (state) => {
    const { server, key: secret } = await serve()
    await fail(state)
    expect(await call(server, 'plain', {}, secret)).toBe('storeUnavailable')
    await recover()
    await eventually(async () => (await call(server, 'plain', {}, secret)) === 'done')
  },
  60_000,
)

test.each(states.filter((state) => ['full', 'read-only'].includes(state)))(
  'an API key is read though the store is %s',
  async (state) => {
    const { server, key: secret } = await serve()
    await fail(state)
    // A write that the store refuses costs the connection, and reads wait for the next one.
    await eventually(async () => (await call(server, 'plain', {}, secret)) === 'done')
  },
  60_000,
)
