/** A real redis-server for one test: on a free port, in a temporary folder, with an append-only file. */

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
  /** Kills it with −9. Acknowledged writes are in its folder. */
  kill(): Promise<void>
  /** After `kill`: starts on the same port and folder. */
  start(): Promise<void>
  /**
   * Stops the process. The kernel still accepts connections and bytes without an answer, like a half-open connection.
   */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** `config` adds to redis.conf, as command-line arguments: `['--requirepass', 'x']`. */
export async function startRedis(config: readonly string[] = []): Promise<RedisServer> {
  const binary = requireProgram('redis-server')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const port = await freePort()
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
  // Each write is in the file before its answer. Only processes are killed here, never the machine, so no write waits
  // for the disk: a busy one takes seconds.
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'no']
  let server: ChildProcess | undefined
  const signal = (name: NodeJS.Signals): void => {
    server?.kill(name)
  }
  const end = async (): Promise<void> => {
    const ending = server
    server = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    const exited = once(ending, 'exit')
    ending.kill('SIGKILL')
    await exited
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

/** A server that is loading its file answers with an error, which does not count. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('data', (data) => settle(/^(\+PONG|-NOAUTH)/.test(String(data))))
    socket.on('error', () => settle(false))
    socket.setTimeout(500, () => settle(false))
  })
}
