/**
 * Three gateway processes behind HAProxy, on one Redis or PostgreSQL: a question is answered through another process than
 * the one that asked, whatever the eras of client and upstream.
 */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Client } from 'sluice/client'
import { connect, httpTransport } from 'sluice/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ServerLocation } from '../kit/clients/official.client.ts'
import { connectV1 } from '../kit/clients/official-v1.client.ts'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import type { HaproxyServer } from '../kit/processes/haproxy.ts'
import { startHaproxy } from '../kit/processes/haproxy.ts'
import { startPostgres } from '../kit/processes/postgres.ts'
import { freePort } from '../kit/processes/programs.ts'
import { startRedis } from '../kit/processes/redis.ts'

const programOf = (name: string): string => join(import.meta.dirname, `${name}.fixture.ts`)

async function start(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<[string, ChildProcess]> {
  const child = spawn(process.execPath, [programOf(name), ...args], {
    ...{ env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout as NodeJS.ReadableStream).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
  })
  return [url, child]
}

let service: { readonly url: string; stop(): Promise<void> }
let upstreams: (readonly [url: string, child: ChildProcess])[]
let balancer: HaproxyServer
let members: (readonly [url: string, child: ChildProcess])[]
let ports: readonly number[]
let port: number

const startMember = (at: number): Promise<[string, ChildProcess]> =>
  start('gateway-member', [], {
    ...{ STORE_URL: service.url, PORT: String(at) },
    UPSTREAMS: JSON.stringify(upstreams.map(([url], index) => ({ name: `v${index + 1}`, url }))),
    HOSTS: [port, ...ports].map((each) => `127.0.0.1:${each}`).join(' '),
  })

beforeAll(async () => {
  service = process.env['FLEET_STORE'] === 'postgres' ? await startPostgres() : await startRedis()
  upstreams = await Promise.all(['v1', 'v2'].map((version) => start(`upstreams/asking-${version}`, ['http'])))
  port = await freePort()
  ports = await Promise.all([freePort(), freePort(), freePort()])
  members = await Promise.all(ports.map(startMember))
  balancer = await startHaproxy(ports, port)
})
afterAll(async () => {
  await balancer.stop()
  for (const [, child] of [...members, ...upstreams]) child.kill('SIGKILL')
  await service.stop()
})

const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})
async function clientOf(url: string): Promise<Client> {
  const client = await connect(httpTransport(url), {
    revision: '2026-07-28',
    capabilities: { elicitation: { form: {} } },
  })
  clients.push(client)
  return client
}
const accepted = (asked: { readonly [member: string]: unknown }): { [member: string]: unknown } => ({
  requestState: asked['requestState'],
  inputResponses: Object.fromEntries(
    Object.keys(asked['inputRequests'] as object).map((key) => [key, { action: 'accept', content: { name: 'Ada' } }]),
  ),
})
const rounds = { inputRequired: 'return' } as const
let tags = 0
const call = (name: string): { readonly name: string; readonly arguments: object } => ({
  name,
  arguments: { tag: `tag ${++tags}` },
})

test('the process that asked, a second and a third take turns, and the upstream works once', async () => {
  const [one, two, three] = await Promise.all(members.map(([url]) => clientOf(url)))
  const twice = call('v1_twice')
  const first = await one?.request('tools/call', twice, rounds)
  expect(first).toMatchObject({ resultType: 'input_required' })
  const second = await two?.request('tools/call', { ...twice, ...accepted(first ?? {}) }, rounds)
  expect(second).toMatchObject({ resultType: 'input_required' })
  const last = await three?.request('tools/call', { ...twice, ...accepted(second ?? {}) }, rounds)
  expect(last).toMatchObject({ content: [{ text: '[{"name":"Ada"},{"name":"Ada"}] run 1' }] })
})

test('the official client behind a balancer is asked twice and notices nothing', async () => {
  const client = await connectV2({ transport: 'http', url: balancer.url }, { pin: '2026-07-28' })
  client.answers.elicit = () => ({ action: 'accept', content: { name: 'Ada' } })
  for (let calls = 0; calls < 6; calls++) {
    const { name, arguments: args } = call('v1_twice')
    expect(await client.call(name, { ...args })).toMatchObject({
      content: [{ text: '[{"name":"Ada"},{"name":"Ada"}] run 1' }],
    })
  }
  await client.close()
})

const before = ['http', 'sse', 'websocket'] as const
const since = ['http', 'websocket'] as const
const officialClients = [
  { client: 'v1', transports: before, connectTo: (at: ServerLocation) => connectV1(at) },
  {
    ...{ client: 'v2 before 2026-07-28', transports: before },
    connectTo: (at: ServerLocation) => connectV2(at, 'legacy'),
  },
  {
    ...{ client: 'v2 of 2026-07-28', transports: since },
    connectTo: (at: ServerLocation) => connectV2(at, { pin: '2026-07-28' }),
  },
]
const cells = officialClients.flatMap(({ transports, ...each }) =>
  transports.flatMap((transport) => ['v1', 'v2'].map((upstream) => ({ ...each, transport, upstream }))),
)
test.each(cells)(
  'the official client $client over $transport is asked by an upstream of SDK $upstream, which works once',
  async ({ connectTo, transport, upstream }) => {
    const { host } = balancer
    const urls = { http: balancer.url, sse: `http://${host}/sse`, websocket: `ws://${host}/ws` }
    const client = await connectTo({ transport, url: urls[transport] })
    try {
      client.answers.elicit = () => ({ action: 'accept', content: { name: 'Ada' } })
      client.answers.sample = () => ({ role: 'assistant', model: 'a', content: { type: 'text', text: 'Hi' } })
      client.answers.roots = () => [{ uri: 'file:///work' }]
      const text = async (kind: string): Promise<unknown> => {
        const { name, arguments: args } = call(`${upstream}_${kind}`)
        const { content } = await client.call(name, { ...args })
        return (content as { text: string }[])[0]?.text
      }
      expect(await text('form')).toBe('["accept",{"name":"Ada"}] run 1')
      expect(await text('sample')).toBe('{"type":"text","text":"Hi"} run 1')
      expect(await text('roots')).toBe('[{"uri":"file:///work"}] run 1')
      expect(await text('together')).toBe('[{"name":"Ada"},{"name":"Ada"}] run 1')
    } finally {
      await client.close()
    }
  },
)

test('when the process that asked is killed, the call is in doubt and never runs a second time', {
  timeout: 60_000,
}, async () => {
  const [one, two] = await Promise.all(members.map(([url]) => clientOf(url)))
  const form = call('v1_form')
  const first = await one?.request('tools/call', form, rounds)
  const [, child] = members[0] ?? []
  const exited = child && once(child, 'exit')
  child?.kill('SIGKILL')
  await exited
  const late = two?.request('tools/call', { ...form, ...accepted(first ?? {}) }, { ...rounds, timeoutMs: 50_000 })
  await expect(late).rejects.toMatchObject({ data: { state: 'in doubt' } })
  const again = two?.request('tools/call', { ...form, ...accepted(first ?? {}) }, rounds)
  await expect(again).rejects.toMatchObject({ data: { state: 'in doubt' } })
  members[0] = await startMember(ports[0] ?? 0)
})
