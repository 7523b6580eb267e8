/**
 * Three processes behind HAProxy, round robin without sticky sessions, with one Redis: the set-up of docs/deploy.md.
 */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiKeys } from 'sluice'
import type { HaproxyServer } from './haproxy.ts'
import { startHaproxy } from './haproxy.ts'
import { startPostgres } from './postgres.ts'
import { freePort } from './programs.ts'
import { startRedis } from './redis.ts'
import { openShared } from './shared-store.ts'

export interface Member {
  /** The name in its tools' answers and in HAProxy. */
  readonly name: string
  readonly port: number
  /** The URL of its endpoint, past the balancer. */
  readonly url: string
  readonly pid: number
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>
  /** Starts a new process in its place. */
  restart(): Promise<void>
}

export interface Fleet {
  readonly balancer: HaproxyServer
  /** Of the Redis or the PostgreSQL that the processes share. */
  readonly storeUrl: string
  readonly members: readonly [Member, Member, Member]
  /** The API keys of ann and bob. */
  readonly keys: { readonly ann: string; readonly bob: string }
  /** Waits until HAProxy sends requests to all of them. */
  ready(): Promise<void>
  stop(): Promise<void>
}

const program = new URL('./fleet-member.fixture.ts', import.meta.url).pathname
const names = ['one', 'two', 'three'] as const

export async function startFleet(env: { readonly [name: string]: string } = {}): Promise<Fleet> {
  const service = process.env['FLEET_STORE'] === 'postgres' ? await startPostgres() : await startRedis()
  const [port, ...ports] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const host = [port, ...ports].map((each) => `127.0.0.1:${each}`).join(' ')
  const shared = { ...process.env, STORE_URL: service.url, HOST: host, ...env }
  const keys = await makeKeys(service.url)
  const members = await Promise.all(names.map((name, index) => startMember(name, ports[index] ?? 0, shared)))
  const balancer = await startHaproxy(ports, port)
  const [one, two, three] = members
  if (!one || !two || !three) throw new Error('Three processes must start')
  const fleet: Fleet = {
    balancer,
    storeUrl: service.url,
    keys,
    members: [one, two, three],
    async ready() {
      const seen = new Set<string>()
      for (let tries = 0; seen.size < names.length; tries++) {
        if (tries > 3000) throw new Error(`HAProxy serves only ${[...seen].join(', ') || 'nobody'}`)
        const id = `ready-${performance.now()}`
        await fetch(balancer.url, { method: 'OPTIONS', headers: { 'x-request-id': id } }).catch(() => {})
        await sleep(20)
        const server = balancer.served(id)?.server ?? ''
        if (names.some((name) => name === server)) seen.add(server)
      }
    },
    async stop() {
      await balancer.stop()
      for (const member of members) {
        member.kill('SIGKILL')
        await member.exited
      }
      await service.stop()
    },
  }
  try {
    await fleet.ready()
    return fleet
  } catch (thrown) {
    await fleet.stop()
    throw thrown
  }
}

async function makeKeys(url: string): Promise<Fleet['keys']> {
  const { store, close } = openShared(url)
  const keys = apiKeys(store)
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((subject) => keys.create({ subject })))
  await close()
  return { ann: ann?.secret ?? '', bob: bob?.secret ?? '' }
}

async function startMember(name: string, port: number, env: NodeJS.ProcessEnv): Promise<Member> {
  let running: ChildProcess
  let exited: Promise<number | string>
  async function start(): Promise<void> {
    const child = spawn(process.execPath, [program], {
      env: { ...env, PORT: String(port), SELF: name },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running = child
    exited = once(child, 'exit').then(([code, signal]) => code ?? signal)
    await Promise.race([once(child.stdout, 'data'), exited.then((how) => Promise.reject(new Error(`${name}: ${how}`)))])
  }
  await start()
  return {
    name,
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    get pid() {
      return running.pid ?? 0
    },
    kill: (signal) => {
      running.kill(signal)
    },
    get exited() {
      return exited
    },
    restart: start,
  }
}
