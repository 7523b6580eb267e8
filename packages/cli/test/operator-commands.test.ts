/** The operator's commands on the store of a server. */

import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createConsole } from '@sluice/console'
import type { OpenedServer } from 'sluice'
import { apiKeys, authenticate, defineServer, tenants, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { createServer } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import { testClient } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { configSchema } from '../src/config/schema.ts'
import { createHost } from '../src/host/host.ts'
import { toServer } from '../src/host/run.ts'
import { aFolder, sluice } from './command.ts'

test('lists, shows, approves and denies tickets; lists rules; searches and verifies the audit', async () => {
  const cwd = aFolder()
  writeFileSync(
    join(cwd, 'sluice.config.json'),
    '{"approvals":{"rules":[{"tool":"delete_*","approval":"always","needed":2}]}}',
  )
  const ids = await twoTickets(join(cwd, '.sluice'))
  const listed = await sluice(cwd, ['approvals', 'list'])
  for (const id of ids)
    expect(listed.out).toMatch(new RegExp(`^${id.slice(0, 8)} +pending +shop/refund +ann@acme`, 'm'))
  expect((await sluice(cwd, ['approvals', 'show', ids[0] ?? ''])).out).toContain('{"order":1}')
  expect((await sluice(cwd, ['approvals', 'show', ids[0]?.slice(0, 8) ?? ''])).out).toContain('{"order":1}')
  expect((await sluice(cwd, ['approvals', 'show', ids[0]?.slice(0, 3) ?? ''])).code).toBe(1)
  expect(
    (await sluice(cwd, ['approvals', 'approve', ids[0]?.slice(0, 8) ?? '', '--note', 'fine', '--as', 'olga'])).out,
  ).toContain('approved refund for ann')
  expect((await sluice(cwd, ['approvals', 'deny', ids[1] ?? '', '--json'])).out).toContain('"denied"')
  expect((await sluice(cwd, ['approvals', 'approve', ids[1] ?? ''])).code).toBe(1)
  expect((await sluice(cwd, ['approvals', 'show', 'nope'])).err).toContain('Ticket nope does not exist')
  expect((await sluice(cwd, ['approvals', 'rules'])).out).toContain('delete_*')
  expect((await sluice(cwd, ['audit', 'search', 'refund', '--tenant', 'acme'])).out).toContain('proposed')
  // Decisions of the command are recorded like those of the console.
  expect((await sluice(cwd, ['audit', 'search', ids[0] ?? '', '--tenant', 'acme'])).out).toMatch(
    /decided +olga +\S+ +approved/,
  )
  expect((await sluice(cwd, ['audit', 'search', 'refund'])).out).toMatch(/ proposed .* acme +\d+ /m)
  expect((await sluice(cwd, ['approvals', 'approve', 'nope'])).err).toContain('Ticket nope does not exist')
  expect((await sluice(cwd, ['audit', 'search', '--tenant', 'nobody'])).out).toContain('Tenants with records: acme')
  expect(await sluice(cwd, ['audit', 'verify'])).toMatchObject({ code: 0, out: expect.stringContaining('✓ acme') })
  expect((await sluice(cwd, ['audit', 'export', '--tenant', 'acme'])).out.split('\n').length).toBeGreaterThan(2)
  expect((await sluice(cwd, ['tenants'])).out).toMatch(/^acme +\d+/m)
})

test('the effect of a call is shown first', async () => {
  const cwd = aFolder()
  const [id = ''] = await twoTickets(join(cwd, '.sluice'))
  const { out } = await sluice(cwd, ['approvals', 'show', id])
  expect(out.split('\n').slice(0, 2).join('\n')).toMatch(/^Acts on +Customer: "customer of 1"\n +Cents: 1250$/)
  const list = (await sluice(cwd, ['approvals', 'list'])).out
  expect(list).toMatch(/ACTS ON +ARGUMENTS/)
  expect(list).toContain('Customer: "customer of 1", Cents: 1250')
})

test('a ticket shows the same marks in the command as in the console', async () => {
  const cwd = aFolder()
  const [id = ''] = await twoTickets(join(cwd, '.sluice'), 'p\u0430y\u202e \u{1d7cf}00')
  const { out } = await sluice(cwd, ['approvals', 'show', id])
  expect(out).toContain('p\u0430[U+0430, like a]y[U+202E RLO] \u{1d7cf}[U+1D7CF, like 1]00')
  expect((await sluice(cwd, ['approvals', 'list'])).out).toContain('[U+202E RLO]')
})

test('a pruned audit is verified from its checkpoint on, only with the same secret', async () => {
  const cwd = aFolder()
  await twoTickets(join(cwd, '.sluice'))
  const before = JSON.parse((await sluice(cwd, ['audit', 'verify', '--json'])).out) as { records: number }[]
  expect((await sluice(cwd, ['audit', 'prune'])).out).toBe('acme: 0 records removed\n')
  const pruned = await sluice(cwd, ['audit', 'prune', '--tenant', 'acme', '--megabytes', '0', '--json'])
  const [{ removed } = { removed: 0 }] = JSON.parse(pruned.out) as { removed: number }[]
  expect(removed).toBeGreaterThan(0)
  const verified = await sluice(cwd, ['audit', 'verify'])
  const rest = (before[0]?.records ?? 0) - removed + 1
  expect(verified.out).toMatch(new RegExp(`✓ acme: ${rest} records, .* pruned up to record ${removed} on `))
  expect((await sluice(cwd, ['audit', 'search', '--tenant', 'acme'])).out).toContain('pruned')
  expect((await sluice(cwd, ['audit', 'export', '--tenant', 'acme'])).out.trimEnd().split('\n')).toHaveLength(rest)
  writeFileSync(join(cwd, '.sluice', 'secret'), 'another secret of sixteen characters\n')
  for (const command of ['verify', 'prune'])
    expect(await sluice(cwd, ['audit', command])).toMatchObject({
      code: 3,
      out: expect.stringContaining(`the checkpoint after record ${removed} is not signed with this secret`),
    })
})

test('people are added with what they may do, listed, and removed; the audit records it', async () => {
  const cwd = aFolder()
  await twoTickets(join(cwd, '.sluice'))
  const added = await sluice(cwd, ['people', 'add', 'olga', '--may', 'approve', '--may', 'audit', '--tenant', 'acme'])
  expect(added).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^op_\w+\n$/),
    err: expect.stringContaining('olga'),
  })
  expect((await sluice(cwd, ['people', 'list'])).out).toMatch(/olga +read, approve, audit +acme +never +never +op_/)
  expect(await sluice(cwd, ['people', 'add', 'olga'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('already'),
  })
  expect(await sluice(cwd, ['people', 'add', 'omar', '--may', 'fly'])).toMatchObject({ code: 2 })
  expect((await sluice(cwd, ['audit', 'search', 'person added', '--tenant', 'acme'])).out).toContain('person added')

  const store = sqliteStore(join(cwd, '.sluice', 'sluice.db'))
  const consoleApp = createConsole({ store })
  const { url, close } = await consoleApp.listen({ port: 0 })
  onTestFinished(async () => {
    await close()
    await store.close()
  })
  const ask = (): Promise<Response> =>
    fetch(new URL('api/session', url), { headers: { authorization: `Bearer ${added.out.trim()}` } })
  expect(await (await ask()).json()).toMatchObject({
    operator: { name: 'olga', scopes: ['approvals:decide', 'audit:export'], tenants: ['acme'] },
  })
  expect((await sluice(cwd, ['people', 'remove', 'olga'])).out).toContain('Removed olga')
  expect((await ask()).status).toBe(401)
  expect((await sluice(cwd, ['people', 'list'])).out).toContain('No people yet')
  expect((await sluice(cwd, ['people', 'remove', 'olga'])).code).toBe(1)
})

test('console link prints a link for the running console, which signs in once', async () => {
  const cwd = aFolder()
  await twoTickets(join(cwd, '.sluice'))
  expect((await sluice(cwd, ['console', 'link'])).err).toContain('Start it with sluice start')
  const store = sqliteStore(join(cwd, '.sluice', 'sluice.db'))
  const { url, close } = await createConsole({ store }).listen({ port: 0 })
  onTestFinished(() => store.close())
  const { out, err } = await sluice(cwd, ['console', 'link'])
  expect([out.startsWith(`${url}#/sign-in/`), err]).toEqual([true, ''])
  const signIn = (): Promise<Response> =>
    fetch(new URL('api/session', url), {
      method: 'POST',
      headers: { origin: new URL(url).origin, 'content-type': 'application/json' },
      body: JSON.stringify({ link: out.trim().split('/').at(-1) }),
    })
  expect([(await signIn()).status, (await signIn()).status]).toEqual([200, 401])
  await close()
  expect((await sluice(cwd, ['console', 'link'])).err).toContain('No console answers')
})

test.each([
  ['an hour by default in sluice start', undefined, 3_600_000],
  ['what the configuration says', { maxMs: 5 }, 5],
  ['off, if the configuration says so', null, 0],
])('the longest grant is %s', async (_, grants, expected) => {
  const cwd = aFolder()
  const config = configSchema.parse({ data: cwd, ...(grants !== undefined && { approvals: { grants } }) })
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const host = await createHost(config, { env: {}, logger, owner: 'you', grantMs: 3_600_000 })
  onTestFinished(() => host.opened.close())
  expect(host.approvals.grants.maxMs).toBe(expected)
})

const refund = tool({
  name: 'refund',
  description: 'Money back',
  input: z.object({ order: z.int(), why: z.string().optional() }),
  approval: 'always',
  effect: ({ order }) => ({ Customer: `customer of ${order}`, Cents: 1250 }),
  run: () => 'done',
})

const shop = defineServer({ name: 'shop', version: '1.0.0', tools: [refund] })

/** Makes two tickets with a server on that folder's store. */
async function twoTickets(folder: string, why?: string): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true })
  const store = sqliteStore(join(folder, 'sluice.db'))
  const keys = apiKeys(store)
  const audit = createAudit({ store })
  const server = createServer(shop, {
    store,
    use: [authenticate({ verifiers: [keys] }), tenants({ claim: 'tenants' }), createApprovals({ store, audit }), audit],
  })
  const { secret } = await keys.create({ subject: 'ann', tenants: ['acme'] })
  const client = await testClient(server)
  const ids: string[] = []
  for (const order of [1, 2]) {
    const result = await client.request('tools/call', {
      name: 'refund',
      arguments: { order, ...(why !== undefined && { why }) },
      token: secret,
    })
    const [block] = result['content'] as { text: string }[]
    ids.push((JSON.parse(block?.text ?? '{}') as { request_id: string }).request_id)
  }
  await server.close()
  await store.close()
  return ids
}

test('a configured webhook receives tickets, and its decisions come back through the console', async () => {
  const notified = Promise.withResolvers<string>()
  const chat = createHttpServer((request, response) => {
    text(request).then((body) => {
      notified.resolve(body)
      response.end()
    }, notified.reject)
  })
  await new Promise<void>((resolve) => chat.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    chat.close()
  })
  const webhook = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/`
  const config = configSchema.parse({ data: aFolder(), approvals: { webhook } })
  const secret = 'a secret of the chat and the server'
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const host = await createHost(config, { env: { SLUICE_WEBHOOK_SECRET: secret }, logger, owner: 'you' })
  const opened: OpenedServer = { definition: shop, state: 'ready', close: async () => {} }
  const server = toServer({ name: 'shop', opened }, host, config)
  const serving = await host.console?.listen({ port: 0 })
  onTestFinished(async () => {
    await serving?.close()
    await server.close()
    await host.opened.close()
  })
  const { secret: token } = await apiKeys(host.opened.store).create({ subject: 'ann', tenants: ['acme'] })
  const client = await testClient(server)
  const call = { name: 'refund', arguments: { order: 7 }, token }
  await client.request('tools/call', call)
  const { id } = (JSON.parse(await notified.promise) as { data: { id: string } }).data
  const body = JSON.stringify({ type: 'approval.decided', data: { id, approved: true, by: 'olga' } })
  const at = String(Math.floor(Date.now() / 1000))
  const mac = createHmac('sha256', secret).update(`m.${at}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'm',
    'webhook-timestamp': at,
    'webhook-signature': `v1,${mac}`,
  }
  const answer = await fetch(`${serving?.url}hooks/approvals`, { method: 'POST', headers, body })
  expect(await answer.json()).toEqual({ id, status: 'approved' })
  expect(await client.request('tools/call', call)).toMatchObject({ content: [{ text: 'done' }] })
})

test('the address of a chat comes from the environment, and needs no secret of ours', async () => {
  const webhook = { url: `\${env:CHAT}`, format: 'slack' as const }
  const config = configSchema.parse({ data: aFolder(), approvals: { webhook } })
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const opened = (env: Record<string, string>): ReturnType<typeof createHost> =>
    createHost(config, { env, logger, owner: 'you' })
  const host = await opened({ CHAT: 'https://hooks.slack.com/services/T/B/x' })
  onTestFinished(() => host.opened.close())
  // Without a secret no decision can come back.
  expect(host.approvals.acceptsWebhook).toBe(false)
  await expect(opened({})).rejects.toThrow('"approvals.webhook.url" needs the variable CHAT')
  await expect(opened({ CHAT: 'nothing' })).rejects.toThrow('"approvals.webhook.url" is not a URL')
})

test('doctor checks Node, folder, ports, store and authentication, and reports an open network address', async () => {
  const cwd = aFolder()
  const free = { SLUICE_PORT: '0', SLUICE_CONSOLE__PORT: '0' }
  const good = await sluice(cwd, ['doctor'], free)
  expect(good.code).toBe(0)
  for (const what of ['Node', 'Data folder', 'Port', 'Store', 'Authentication']) expect(good.out).toContain(`✓ ${what}`)
  const open = await sluice(cwd, ['doctor', '--json'], { ...free, SLUICE_HOST: '0.0.0.0', SLUICE_AUTHENTICATE: 'null' })
  expect(open.code).toBe(3)
  expect(JSON.parse(open.out)).toContainEqual(expect.objectContaining({ state: 'bad', what: 'Reach' }))
  const issuer = { resource: 'https://mcp.example.com/mcp', authorizationServers: ['http://127.0.0.1:1/'] }
  const oauth = await sluice(cwd, ['doctor'], { ...free, SLUICE_AUTHENTICATE__RESOURCE: JSON.stringify(issuer) })
  expect(oauth.out).toContain('✗ Audience')
  expect(oauth.out).toContain('✗ Issuer')
})
