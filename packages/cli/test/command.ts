/** Runs the command as people do: in a separate process and folder. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { addressOf, type ListeningProcess } from '../../../test/kit/processes/listening-address.ts'
import type { Terminal } from '../src/output.ts'
import { run } from '../src/program.ts'

export const main = fileURLToPath(new URL('../bin/sluice.js', import.meta.url))

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/**
 * Turns admission off, because a machine that runs many tests lags and the server would refuse requests as overloaded.
 * `test/limits` tests admission.
 */
const withoutAdmission = { SLUICE_ADMISSION: 'null' }

export interface CommandResult {
  readonly out: string
  readonly err: string
  readonly code: number | null
}

/** Removes the variables of this machine that would configure the command. */
const clean = (env: Record<string, string>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_'))),
  ...env,
})

/** Runs a command. A server gets its own process, because it ends with it; the others run in this one. */
export const sluice = (
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> =>
  ['start', 'serve', 'wrap', 'connect'].includes(args[0] ?? '') ? runInChild(cwd, args, env) : runHere(cwd, args, env)

/** Runs a command in this process for a person whose home is this folder, with their own data folder. */
export const sluiceAt = (
  home: string,
  args: readonly string[],
  { cwd = home, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<CommandResult> => runWith(cwd, args, { ...machine(home), ...env })

/** The variables of a machine that decide where programs keep their files. */
export const machine = (home: string): Record<string, string> => ({
  ...{ HOME: home, XDG_CONFIG_HOME: '', CLAUDE_CONFIG_DIR: '', CODEX_HOME: '' },
})

const runHere = (cwd: string, args: readonly string[], env: Record<string, string>): Promise<CommandResult> =>
  runWith(cwd, args, { SLUICE_DATA: join(cwd, '.sluice'), ...env })

async function runWith(cwd: string, args: readonly string[], env: Record<string, string>): Promise<CommandResult> {
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
  const code = await run(args, { terminal, env: clean(env), cwd, signal: new AbortController().signal })
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
  /** Returns the output on stderr so far. */
  readonly stderr: () => string
  url(name: string): string
  /** Sends Ctrl-C and resolves with the exit code. */
  stop(): Promise<number | null>
}

/** Starts `sluice start` on free ports, and resolves when its table is printed. */
export async function startAll(
  cwd: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Started> {
  const flags = ['--port', '0', '--console-port', '0', '--json', ...(args.includes('--no-demo') ? [] : ['--demo'])]
  const child = spawn(process.execPath, [main, 'start', ...flags, ...args], {
    cwd,
    env: clean({ ...withoutAdmission, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const printed = await new Promise<string>((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (out.trimEnd().endsWith('\n}')) resolve(out)
    })
    child.once('exit', (code) => reject(new Error(`exited with ${code}: ${stderr}`)))
  })
  // Keys are not printed to a pipe.
  const table = JSON.parse(printed) as Pick<Started, 'servers' | 'console'> & { readonly keys?: string }
  const keys = table.keys === undefined ? {} : (JSON.parse(readFileSync(table.keys, 'utf8')) as Started['keys'])
  return {
    child,
    ...table,
    keys,
    stderr: () => stderr,
    url: (name) => table.servers.find((each) => each.name === name)?.url ?? '',
    async stop() {
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
      child.kill('SIGINT')
      return exited
    },
  }
}

/** Starts `sluice serve`, and resolves when it has printed its URL. */
export const serveHttp = (cwd: string, args: readonly string[]): Promise<ListeningProcess> =>
  listenWith(cwd, ['serve', ...args, '--http', '--port', '0'])

/** Starts a command that listens, and resolves when it has printed its URL. */
export async function listenWith(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ListeningProcess & { readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: clean({ ...withoutAdmission, ...env }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return { ...(await addressOf(child)), child }
}
