/**
 * An upstream as a process: started on `open` under the guard, in a separate process group, with a small environment.
 * Its output is read at a bounded rate. It ends with everything it started.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { notOpen } from '../../client/channel.ts'
import { ClientError } from '../../client/errors.ts'
import { endGroup, signalGroup } from '../../client/node/process-group.ts'
import { createPipe, type Pipe } from '../../client/node/streams.ts'
import type { Receiver, Transport } from '../../client/transport.ts'
import type { Clock } from '../../core/clock.ts'
import { childEnvironment } from '../../transports/node/environment.ts'
import { findAccount } from './account.ts'
import { guarded, type ProcessGuard } from './guard.ts'
import type { OutputRing } from './output-ring.ts'
import { pace } from './pace.ts'

/** Variables of an environment. */
export type ProcessVariables = { readonly [name: string]: string | undefined }

/** The program of an upstream. */
export interface ProcessSpec {
  /** The name of the upstream. Callers and operators see it. */
  readonly name: string
  readonly command: string
  readonly args?: readonly string[]
  /**
   * Variables for the process besides the harmless ones that every program needs (PATH, HOME, LANG, …). A function is
   * called at each start, so that a secret is read when it is needed.
   */
  readonly env?: ProcessVariables | (() => Promise<ProcessVariables>)
  /** Removes secrets from a line of its output that operators read. Programs print their settings. */
  readonly hide?: (line: string) => string
  readonly cwd?: string
  /** The account of the process. By default the gateway's, whose files and processes it can then reach. Needs root. */
  readonly user?: string
}

export interface ProcessTransportOptions {
  readonly guard: ProcessGuard
  readonly clock: Clock
  readonly ring: OutputRing
  readonly maxMessageBytes: number
  /** A line on stdout was not a message of the protocol. */
  skipped(): void
  /** The connection ended by itself. `isClean` if the process exited with 0. */
  closed(error: ClientError, isClean: boolean): void
}

export interface ProcessTransport extends Transport {
  readonly pid: number | undefined
  readonly isOpen: boolean
  /** Fails the requests in flight and does not open again. */
  fail(error: ClientError): void
}

/** More than the longest message, so that one message is never cut in two by a pause. */
const stdoutBytesPerSecond = 32 * 1024 * 1024
const stderrBytesPerSecond = 1024 * 1024
/** What a line of stdout counts for besides its bytes: 64 Ki messages a second, or 8 Ki lines that are not messages. */
const bytesPerMessage = 512
const bytesPerSkippedLine = 4096
/** How long output of an ended process is read. A process that left the group may hold the pipe for longer. */
const drainMs = 500

interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly pipe: Pipe
  readonly exited: Promise<void>
}

export function createProcessTransport(spec: ProcessSpec, options: ProcessTransportOptions): ProcessTransport {
  const { guard, clock, ring, maxMessageBytes } = options
  const { name } = spec
  let running: Running | undefined
  let failure: ClientError | undefined

  async function open(receiver: Receiver): Promise<void> {
    if (failure) throw failure
    const child = await start(spec, guard).catch((cause: unknown) => {
      throw unreachable(name, cause)
    })
    const { pid = 0 } = child
    guard.started(pid)
    const report = (error: ClientError, isClean: boolean): void => {
      receiver.closed(error)
      options.closed(error, isClean)
    }
    const end = Promise.withResolvers<{ readonly error: ClientError; readonly isClean: boolean }>()
    let hasAnswered = false
    const charge = pace(child.stdout, stdoutBytesPerSecond, clock)
    const ownReceiver: Receiver = {
      message(message) {
        hasAnswered = true
        charge(bytesPerMessage)
        receiver.message(message)
      },
      ignored(problem, text) {
        charge(bytesPerSkippedLine)
        options.skipped()
        if (text !== undefined) ring.line(`[stdout] ${text}`)
        receiver.ignored(problem)
      },
      closed(error) {
        if (error.reason !== 'closed') report(error, false)
        else {
          // Most often the process ends, and how it ended says more than the end of its output.
          const cancelTimer = clock.after(drainMs, () => end.resolve({ error, isClean: false }))
          end.promise.then(({ error: last, isClean }) => {
            cancelTimer()
            report(last, isClean)
          }, cancelTimer)
        }
      },
    }
    const pipe = createPipe(child.stdout, child.stdin, ownReceiver, { maxMessageBytes })
    child.stderr.setEncoding('utf8').on('data', ring.write)
    child.stderr.on('error', () => {})
    pace(child.stderr, stderrBytesPerSecond, clock)
    const exited = new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        // Processes that the upstream started may outlive it. Later its number may belong to another group.
        signalGroup(child, 'SIGKILL')
        guard.ended(pid)
        resolve()
        // Answers that were written before the end are still in the pipe.
        const cancelTimer = clock.after(drainMs, drained)
        child.once('close', drained)
        function drained(): void {
          cancelTimer()
          child.stdout.destroy()
          child.stderr.destroy()
          end.resolve({ error: exitError(spec, code, signal, hasAnswered), isClean: code === 0 })
          pipe.fail(new ClientError('closed', `${name} ended`))
        }
      })
    })
    running = { child, pipe, exited }
    if (failure) pipe.fail(failure)
  }

  return {
    server: [spec.command, ...(spec.args ?? [])].join(' '),
    mirrorsHeaders: false,
    get pid() {
      return running?.child.pid
    },
    get isOpen() {
      return running?.pipe.isOpen ?? false
    },
    open,
    send: (message) => running?.pipe.send(message) ?? Promise.reject(notOpen()),
    agreed() {},
    fail(error) {
      failure ??= error
      running?.pipe.fail(error)
    },
    async close() {
      const ended = running
      running = undefined
      if (!ended) return
      ended.pipe.detach()
      await endGroup(ended.child, ended.exited, clock)
    },
  }
}

async function start(
  { command, args = [], env = {}, cwd, user }: ProcessSpec,
  guard: ProcessGuard,
): Promise<Running['child']> {
  const variables = typeof env === 'function' ? await env() : env
  const account = user === undefined ? undefined : await findAccount(user)
  const isWindows = process.platform === 'win32'
  const [file, argv] = isWindows ? [command, [...args]] : guarded(command, args)
  const child = spawn(file, argv, {
    stdio: ['pipe', 'pipe', 'pipe', ...(isWindows ? [] : [guard.channel()])],
    env: childEnvironment(process.env, {
      ...(account && { HOME: account.home, USER: user, LOGNAME: user }),
      ...variables,
    }),
    detached: !isWindows,
    ...(account && { uid: account.uid, gid: account.gid, cwd: '/' }),
    ...(cwd !== undefined && { cwd }),
  }) as Running['child']
  await once(child, 'spawn')
  child.on('error', () => {})
  return child
}

const unreachable = (name: string, cause: unknown): ClientError => {
  const problem = cause instanceof Error ? cause.message : String(cause)
  return new ClientError('unreachable', `${name} cannot be started: ${problem}`, { mayHaveRun: false, cause })
}

/**
 * The shell that registers the process exits with 126 or 127 if it cannot become the program. A program that has
 * answered may exit so too, and then its calls may have run.
 */
function exitError(
  { name, command }: ProcessSpec,
  code: number | null,
  signal: string | null,
  hasAnswered: boolean,
): ClientError {
  return !hasAnswered && (code === 126 || code === 127)
    ? unreachable(name, `${command} was not found or cannot be run`)
    : new ClientError('closed', `${name} ended with ${signal ?? `exit code ${code}`}`)
}
