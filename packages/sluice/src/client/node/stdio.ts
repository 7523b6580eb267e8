/**
 * A server as a process of this one: started on `open`, ended on `close` with everything it started. Its environment is
 * an allow-list, because code in it may be an agent's and must not see this process's secrets.
 */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { childEnvironment } from '../../transports/node/environment.ts'
import { notOpen } from '../channel.ts'
import { ClientError } from '../errors.ts'
import type { Transport } from '../transport.ts'
import { createPipe, type Pipe, type StreamsOptions } from './streams.ts'

/** The program that is the server, and its environment. */
export interface StdioTransportOptions extends StreamsOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** Variables for the process besides the harmless ones that every program needs (PATH, HOME, LANG, …). */
  readonly env?: { readonly [name: string]: string | undefined }
  readonly cwd?: string
  /** Receives the stderr of the process. By default it is dropped. */
  onStderr?(text: string): void
}

const waitAfterEofMs = 2000
const waitAfterTermMs = 2000

/** Returns a transport to a server that is started as a process. */
export function stdioTransport(options: StdioTransportOptions): Transport {
  const { command, args = [], env = {}, cwd, onStderr } = options
  let running: { readonly child: ChildProcess; readonly pipe: Pipe; readonly exited: Promise<void> } | undefined

  return {
    server: [command, ...args].join(' '),
    mirrorsHeaders: false,
    async open(receiver) {
      // A separate process group, so that processes the server starts end with it.
      const child = spawn(command, [...args], {
        stdio: ['pipe', 'pipe', onStderr ? 'pipe' : 'ignore'],
        env: childEnvironment(process.env, env),
        detached: process.platform !== 'win32',
        ...(cwd !== undefined && { cwd }),
      })
      const { stdin, stdout } = child
      if (!stdin || !stdout) throw new ClientError('unreachable', `${command} has no streams`, { mayHaveRun: false })
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve)
        child.once('error', (cause) =>
          reject(new ClientError('unreachable', `${command} cannot be started`, { mayHaveRun: false, cause })),
        )
      })
      child.on('error', () => {})
      child.stderr?.setEncoding('utf8').on('data', (text: string) => onStderr?.(text))
      const pipe = createPipe(stdout, stdin, receiver, options)
      const exited = new Promise<void>((resolve) => {
        child.once('exit', (code, signal) => {
          // Processes that the server started may outlive it. Later its number may belong to another group.
          kill(child, 'SIGKILL')
          resolve()
          pipe.fail(new ClientError('closed', `${command} ended with ${signal ?? code}`))
        })
      })
      running = { child, pipe, exited }
    },
    send: (message) => running?.pipe.send(message) ?? Promise.reject(notOpen()),
    agreed() {},
    async close() {
      const ended = running
      running = undefined
      if (ended) await end(ended)
    },
  }
}

/** End of input, then SIGTERM, then SIGKILL, each to the whole group. */
async function end({ child, pipe, exited }: { child: ChildProcess; pipe: Pipe; exited: Promise<void> }): Promise<void> {
  pipe.detach()
  child.stdin?.end()
  // Nothing reads it any longer; a process that writes on must not wait for that.
  child.stdout?.destroy()
  child.stderr?.destroy()
  if (!(await within(exited, waitAfterEofMs))) {
    kill(child, 'SIGTERM')
    if (!(await within(exited, waitAfterTermMs))) kill(child, 'SIGKILL')
    await exited
  }
}

function kill(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // The group has ended.
  }
}

async function within(done: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const isDone = await Promise.race([done.then(() => true as const), late])
  clearTimeout(timer)
  return isDone
}
