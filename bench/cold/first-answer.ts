/** Starts a program and measures the time until its first answer. The program is ended after it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { freePort } from '../../test/kit/processes/programs.ts'
import { isComplete, requestText } from '../lib/http-text.ts'
import { callMessage, echoText, httpHeaders, openingMessages, type Revision } from '../lib/messages.ts'

const silentAfterMs = 30_000

export interface StartOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Lets the process end by itself, so that Node writes its compile cache. */
  readonly endsItself?: boolean
}

/** Returns milliseconds from the start of the process to the answer of its first `tools/call`, over stdio. */
export async function overStdio(
  args: readonly string[],
  revision: Revision,
  { cwd, env, endsItself = false }: StartOptions = {},
): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    ...{ cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] },
  })
  const exited = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), silentAfterMs)
  // A server that has ended is noticed below.
  child.stdin.on('error', () => {})
  const messages = [...openingMessages(revision), callMessage(revision)]
  child.stdin.write(messages.map((message) => `${message}\n`).join(''))
  try {
    let text = ''
    for await (const chunk of child.stdout) {
      text += String(chunk)
      if (text.includes(echoText)) return performance.now() - startedAt
    }
    throw new Error(`no answer, but ${text.slice(0, 200)}`)
  } finally {
    if (endsItself) child.stdin.end()
    else child.kill('SIGKILL')
    await exited
    clearTimeout(timer)
  }
}

/** Returns milliseconds from the start of workerd with a bundled worker to the answer of its first `tools/call`. */
export async function onWorkerd(workerd: string, worker: string, revision: Revision): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-cold-'))
  const port = await freePort()
  await writeFile(join(folder, 'worker.js'), worker)
  await writeFile(join(folder, 'config.capnp'), configOf(port))
  const [headers, body] = [httpHeaders('tools/call', revision), callMessage(revision)]
  const request = requestText({ url: `http://127.0.0.1:${port}/mcp`, headers, body })
  const startedAt = performance.now()
  const child = spawn(workerd, ['serve', join(folder, 'config.capnp')], { stdio: 'ignore', detached: true })
  const exited = once(child, 'exit')
  try {
    while (performance.now() - startedAt < silentAfterMs) {
      const text = await post(port, request)
      if (text?.includes(echoText)) return performance.now() - startedAt
      if (text !== undefined) throw new Error(`answers ${text.slice(0, 200)}`)
    }
    throw new Error('no answer')
  } finally {
    // Kills the group, because the installed program is a wrapper that starts the real one.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await exited
    await rm(folder, { recursive: true })
  }
}

/** Returns the response, or `undefined` if the port does not listen yet. The socket is raw, so that the time of `fetch` is not measured. */
async function post(port: number, request: string): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(silentAfterMs, () => socket.destroy(new Error('no answer')))
  let text = ''
  try {
    socket.write(request)
    for await (const chunk of socket) {
      text += String(chunk)
      if (isComplete(text)) break
    }
    return text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error
    return undefined
  } finally {
    socket.destroy()
  }
}

const configOf = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "2026-07-01",
    compatibilityFlags = ["nodejs_compat"],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`
