/**
 * A server as a process of this one: started on `open`, ended on `close` with everything it started. Its environment is
 * an allow-list, because code in it may be an agent's and must not see this process's secrets.
 */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { systemClock } from '../../core/clock.ts'
import { childEnvironment } from '../../transports/node/environment.ts'
import { notOpen } from '../channel.ts'
import { ClientError } from '../errors.ts'
import type { Transport } from '../transport.ts'
import { endGroup, signalGroup } from './process-group.ts'
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
      await once(child, 'spawn').catch((cause: unknown) => {
        throw new ClientError('unreachable', `${command} cannot be started`, { mayHaveRun: false, cause })
      })
      child.on('error', () => {})
      child.stderr?.setEncoding('utf8').on('data', (text: string) => onStderr?.(text))
      const pipe = createPipe(stdout, stdin, receiver, options)
      const exited = new Promise<void>((resolve) => {
        child.once('exit', (code, signal) => {
          // Processes that the server started may outlive it. Later its number may belong to another group.
          signalGroup(child, 'SIGKILL')
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
      if (!ended) return
      ended.pipe.detach()
      ended.child.stderr?.destroy()
      await endGroup(ended.child, ended.exited, systemClock)
    },
  }
}
