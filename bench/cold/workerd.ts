/**
 * Measures the first answer of a worker on workerd: of a new process, and of a new isolate in a running process. The
 * second is what a cold start is on an edge network, where the process runs already.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { programIn } from '../../test/kit/processes/npm-packages.ts'
import { freePort } from '../../test/kit/processes/programs.ts'
import { isComplete, requestText } from '../lib/http-text.ts'
import { callMessage, echoText, httpHeaders } from '../lib/messages.ts'

const silentAfterMs = 30_000
const revision = '2026-07-28'
/** As Wrangler sets them for a new project with Node compatibility. */
const compatibilityDate = '2026-07-01'
const compatibilityFlag = 'nodejs_compat'
const workerHeader = 'x-worker'

/** Loads the worker that a request names into a separate isolate, and passes the request to it. */
const loader = `let loaded = 0
export default {
  fetch(request, env) {
    const name = request.headers.get('${workerHeader}')
    const code = {
      compatibilityDate: '${compatibilityDate}',
      compatibilityFlags: ['${compatibilityFlag}'],
      mainModule: 'worker.js',
      modules: { 'worker.js': env[name] },
    }
    return env.LOADER.get(String(loaded++), () => code).getEntrypoint().fetch(request)
  },
}`

/** Returns milliseconds from the start of workerd with a bundled worker to the answer of its first `tools/call`. */
export async function answerOfProcess(worker: string): Promise<number> {
  const { startedAt, request, close } = await startWorkerd(worker)
  try {
    await request()
    return performance.now() - startedAt
  } finally {
    await close()
  }
}

/** Starts workerd, and loads a bundled worker into a new isolate for each answer. */
export async function startIsolates<Name extends string>(workers: ReadonlyMap<Name, string>) {
  const { request, close } = await startWorkerd(loader, workers)
  return {
    /** Returns milliseconds from the request to the answer of a `tools/call`. */
    async answerOfIsolate(name: Name): Promise<number> {
      const startedAt = performance.now()
      await request({ [workerHeader]: name })
      return performance.now() - startedAt
    },
    close,
  }
}

/** The worker gets `texts` as bindings, by their names. */
async function startWorkerd(worker: string, texts: ReadonlyMap<string, string> = new Map()) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-cold-'))
  const port = await freePort()
  await writeFile(join(folder, 'worker.js'), worker)
  for (const [name, text] of texts) await writeFile(join(folder, `${name}.txt`), text)
  const config = join(folder, 'config.capnp')
  await writeFile(config, configOf(port, [...texts.keys()]))
  const program = programIn('runtimes', 'workerd')
  const startedAt = performance.now()
  const child = spawn(program, ['serve', '--experimental', config], { stdio: 'ignore', detached: true })
  const exited = once(child, 'exit')
  return {
    startedAt,
    /** Sends a call until workerd listens. */
    async request(headers: Readonly<Record<string, string>> = {}): Promise<void> {
      const url = `http://127.0.0.1:${port}/mcp`
      const call = { ...httpHeaders('tools/call', revision), ...headers }
      const text = requestText({ url, headers: call, body: callMessage(revision) })
      const deadline = performance.now() + silentAfterMs
      while (performance.now() < deadline) {
        const response = await post(port, text)
        if (response?.includes(echoText)) return
        if (response !== undefined) throw new Error(`answers ${response.slice(0, 200)}`)
      }
      throw new Error('no answer')
    },
    async close(): Promise<void> {
      // Kills the group, because the installed program may be a wrapper that starts the real one.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await exited
      await rm(folder, { recursive: true })
    },
  }
}

/**
 * Returns the response, or `undefined` if the port does not listen yet. The socket is raw, so that the time of `fetch`
 * is not measured.
 */
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

const configOf = (port: number, texts: readonly string[]): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "${compatibilityDate}",
    compatibilityFlags = ["${compatibilityFlag}"],
    bindings = [
      (name = "LOADER", workerLoader = ()),
      ${texts.map((name) => `(name = "${name}", text = embed "${name}.txt"),`).join('\n      ')}
    ],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`
