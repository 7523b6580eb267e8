/** The command as people run it: a process of its own, in a folder of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { addressOf, type ListeningProcess } from '../../../test/kit/processes/listening-address.ts'
import type { Terminal } from '../src/output.ts'
import { run } from '../src/program.ts'

export const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/**
 * For what listens: a machine that runs many tests at once lags, and a server that notices refuses requests as
 * overloaded. That it does is tested in `test/limits`.
 */
const withoutAdmission = { SLUICE_ADMISSION: 'null' }

export interface CommandResult {
  readonly out: string
  readonly err: string
  readonly code: number | null
}

/** Without what the machine's own environment would configure. */
const clean = (env: Record<string, string>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_'))),
  ...env,
})

/** What serves ends with its process, so it gets one; the rest runs here, as the process would run it. */
export const sluice = (
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> =>
  args[0] === 'start' || args[0] === 'serve' ? runInChild(cwd, args, env) : runHere(cwd, args, env)

async function runHere(cwd: string, args: readonly string[], env: Record<string, string>): Promise<CommandResult> {
  let [out, err] = ['', '']
  const terminal: Terminal = {
    isTty: false,
    columns: 100,
    out: (text) => {
      out += `${text}\n`
    },
    err: (text) => {
      err += `${text}\n`
    },
    drained: async () => {},
  }
  const around = { SLUICE_DATA: join(cwd, '.sluice'), ...env }
  const code = await run(args, { terminal, env: clean(around), cwd, signal: new AbortController().signal })
  return { out, err, code }
}

async function runInChild(cwd: string, args: readonly string[], env: Record<string, string>): Promise<CommandResult> {
  const child = spawn(process.execPath, [main, ...args], { cwd, env: clean(env), stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { out, err, code }
}

export interface Started {
  readonly child: ChildProcess
  readonly servers: readonly { readonly name: string; readonly url: string; readonly state: string }[]
  readonly console: string
  readonly keys: { readonly [name: string]: string }
  /** What it said so far. */
  readonly stderr: () => string
  url(name: string): string
  /** Ctrl-C, and how it ended. */
  stop(): Promise<number | null>
}

/** `sluice start`, on free ports, until its table is printed. */
export async function startAll(cwd: string, args: readonly string[] = []): Promise<Started> {
  const child = spawn(process.execPath, [main, 'start', '--port', '0', '--console-port', '0', '--json', ...args], {
    cwd,
    env: clean(withoutAdmission),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const printed = await new Promise<string>((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (out.trimEnd().endsWith('\n}')) resolve(out)
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)))
  })
  const table = JSON.parse(printed) as Pick<Started, 'servers' | 'console' | 'keys'>
  return {
    child,
    ...table,
    stderr: () => said,
    url: (name) => table.servers.find((each) => each.name === name)?.url ?? '',
    async stop() {
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
      child.kill('SIGINT')
      return exited
    },
  }
}

/** `sluice serve`, until it says where it listens. */
export async function serveHttp(cwd: string, args: readonly string[]): Promise<ListeningProcess> {
  const child = spawn(process.execPath, [main, 'serve', ...args, '--http', '--port', '0'], {
    cwd,
    env: clean(withoutAdmission),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return addressOf(child)
}
