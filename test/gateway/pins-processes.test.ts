/** Pins are in the store: processes that share it see the same quarantine and the same decision. */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { memoryStore } from 'sluice'
import type { Gateway, Reviewer } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer } from 'sluice/node'
import { log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../kit/processes/programs.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { openShared } from '../kit/processes/shared-store.ts'
import { clientOf, namesOf, servedGateway } from './kit.ts'
import type { RawUpstream } from './raw-upstream.ts'
import { rawTool, rawUpstream } from './raw-upstream.ts'

const operator: Reviewer = { subject: 'olga', via: 'console', tenants: 'all', operator: true }
const changed = [rawTool('echo', { description: 'Changed' }), rawTool('other')]
const slow = { timeout: 20_000 }

/** Starts another gateway process on the same Redis, in front of the same upstream. */
async function startMember(redis: string, { url }: RawUpstream): Promise<string> {
  const port = await freePort()
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'gateway-member.fixture.ts')], {
    env: {
      ...{ ...process.env, STORE_URL: redis, PORT: String(port), HOSTS: `127.0.0.1:${port}` },
      UPSTREAMS: JSON.stringify([{ name: 'asking', prefix: '', url }]),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    createInterface(child.stdout as NodeJS.ReadableStream).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`the member ended with ${code}`)))
  })
}

test('two processes on one Redis see the same pins, and one accept serves a definition in both', {
  timeout: 60_000,
}, async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const shared = openShared(redis.url)
  const raw = await rawUpstream({ tools: [rawTool('echo'), rawTool('other')] })
  const asking = upstream({ name: 'asking', scope: 'shared', prefix: '', url: raw.url })
  const secret = 'a secret that all processes share'
  const { team, url: here } = await servedGateway([asking], { store: shared.store, bus: shared.bus, secret })
  onTestFinished(() => shared.close())
  const there = await startMember(redis.url, raw)
  const clients = [await clientOf(here), await clientOf(there)]
  const lists = (): Promise<unknown[][]> => Promise.all(clients.map((client) => namesOf(client.tools())))
  expect(await lists()).toEqual(Array(2).fill(['echo', 'other']))

  await expect.poll(() => raw.listening).toBe(2)
  raw.lists.tools = changed
  raw.announce()
  await expect.poll(lists, slow).toEqual(Array(2).fill(['other']))
  for (const client of clients)
    await expect(client.callTool('echo')).rejects.toMatchObject({ data: { reason: 'unknownTool' } })

  await team.review.accept('asking', await team.review.quarantined('asking'), operator)
  await expect.poll(lists, slow).toEqual(Array(2).fill(['echo', 'other']))
  for (const client of clients) expect(await client.callTool('echo')).toMatchObject({ content: [{ text: '{}' }] })

  // A process that starts later finds the pins, and does not trust its own first look.
  raw.lists.tools = [...changed, rawTool('third')]
  const later = await clientOf(await startMember(redis.url, raw))
  await expect.poll(() => namesOf(later.tools()), slow).toEqual(['echo', 'other'])
})

test('a decision reaches a process that missed the message within five seconds', async () => {
  const clock = fakeClock()
  const { inProcess: _, ...store } = memoryStore()
  const raw = await rawUpstream()
  async function open(): Promise<Gateway> {
    const team = gateway({ name: 'team', version: '1', upstreams: [upstream({ name: 'raw', url: raw.url })] })
    const silent = { info() {}, warn() {}, error() {} }
    const server = createServer(team, { store, clock, use: [log(silent)] })
    onTestFinished(() => server.close())
    await server.ready()
    return team
  }
  const [one, two] = [await open(), await open()]
  raw.lists.tools = changed
  await one.restart('raw')
  await two.restart('raw')
  const waiting = async (): Promise<number> => (await two.review.quarantined('raw')).length
  expect(await waiting()).toBe(2)
  await one.review.accept('raw', await one.review.quarantined('raw'), operator)
  expect(await waiting()).toBe(2)
  await clock.advance(5_000)
  await expect.poll(waiting).toBe(0)
})

test('two processes that start at once agree on the first use', async () => {
  const { inProcess: _, ...store } = memoryStore()
  const raw = await rawUpstream()
  let lists = 0
  // The upstream shows each of the two another definition.
  raw.respondToList = ({ method }) => {
    if (method === 'tools/list') raw.lists.tools = [rawTool('echo', { description: `Version ${lists++}` })]
    return false
  }
  const raws = (): ReturnType<typeof upstream> => upstream({ name: 'raw', scope: 'shared', url: raw.url })
  const teams = await Promise.all([1, 2].map(() => servedGateway([raws()], { store })))
  const waiting = async (): Promise<number[]> => {
    const all = await Promise.all(teams.map(({ team }) => team.review.quarantined('raw')))
    return all.map(({ length }) => length).sort()
  }
  await expect.poll(waiting).toEqual([0, 1])
})
