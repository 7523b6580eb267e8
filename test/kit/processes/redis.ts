/** A real redis-server of the test's own: on a free port, in a folder of its own, with an append-only file. */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, requireProgram } from './programs.ts'

export interface RedisServer {
  readonly url: string
  /** kill −9. What it had acknowledged is in its folder. */
  kill(): Promise<void>
  /** After `kill`: the same port and folder. */
  start(): Promise<void>
  /** The kernel still takes connections and bytes, nobody answers: what a half-open connection looks like. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** `config` is more of redis.conf, as command-line words: `['--requirepass', 'x']`. */
export async function startRedis(config: readonly string[] = []): Promise<RedisServer> {
  const binary = requireProgram('redis-server')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const port = await freePort()
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  let server: ChildProcess | undefined
  const signal = (name: NodeJS.Signals): void => {
    server?.kill(name)
  }
  const end = async (): Promise<void> => {
    const ending = server
    server = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    const gone = once(ending, 'exit')
    ending.kill('SIGKILL')
    await gone
  }
  const start = async (): Promise<void> => {
    server = spawn(binary, [...where, ...durable, ...config], { stdio: 'ignore' })
    for (let tries = 0; tries < 2000; tries++) {
      if (await answers(port)) return
      if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`)
      await sleep(20)
    }
    throw new Error('redis-server does not answer')
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: end,
    start,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One that is loading its file answers with an error, which does not count. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const say = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('data', (data) => say(/^(\+PONG|-NOAUTH)/.test(String(data))))
    socket.on('error', () => say(false))
    socket.setTimeout(500, () => say(false))
  })
}
