/** Three gateway processes on one Redis: a question is answered through another process than the one that asked. */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Client } from 'sluice/client'
import { connect, httpTransport } from 'sluice/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import type { HaproxyServer } from '../kit/processes/haproxy.ts'
import { startHaproxy } from '../kit/processes/haproxy.ts'
import { freePort } from '../kit/processes/programs.ts'
import type { RedisServer } from '../kit/processes/redis.ts'
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

let redis: RedisServer
let upstream: readonly [url: string, child: ChildProcess]
let balancer: HaproxyServer
let members: (readonly [url: string, child: ChildProcess])[]
let ports: readonly number[]
let port: number

const startMember = (at: number): Promise<[string, ChildProcess]> =>
  start('gateway-member', [], {
    ...{ STORE_URL: redis.url, UPSTREAM_URL: upstream[0], PORT: String(at) },
    HOSTS: [port, ...ports].map((each) => `127.0.0.1:${each}`).join(' '),
  })

beforeAll(async () => {
  redis = await startRedis()
  upstream = await start('upstreams/asking-v1', ['http'])
  port = await freePort()
  ports = await Promise.all([freePort(), freePort(), freePort()])
  members = await Promise.all(ports.map(startMember))
  balancer = await startHaproxy(ports, port)
})
afterAll(async () => {
  await balancer.stop()
  for (const [, child] of [...members, upstream]) child.kill('SIGKILL')
  await redis.stop()
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
  const twice = call('twice')
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
    const { name, arguments: args } = call('twice')
    expect(await client.call(name, { ...args })).toMatchObject({
      content: [{ text: '[{"name":"Ada"},{"name":"Ada"}] run 1' }],
    })
  }
  await client.close()
})

test('when the process that asked is killed, the call is in doubt and never runs a second time', {
  timeout: 60_000,
}, async () => {
  const [one, two] = await Promise.all(members.map(([url]) => clientOf(url)))
  const form = call('form')
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
