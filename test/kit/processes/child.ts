/** One of our programs as a real process, and the client's end of its pipes. */

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Params } from 'sluice'

/** The Node of this repository, because the programs are TypeScript and an older one may not run that. */
const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url))

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  /** Waits until the pipe accepts more. */
  write(bytes: string | Buffer): Promise<void>
  send(message: Params): Promise<void>
  /** Returns the next line of stdout. */
  line(): Promise<string>
  /** Returns the next line of stdout as JSON. Fails if it is not JSON. */
  next(): Promise<Params>
  /** Resolves when stderr matches. */
  stderrMatches(pattern: RegExp): Promise<void>
  /** The exit code or signal, and all output; unread lines are in `left`. */
  readonly exit: Promise<{
    readonly code: number | null
    readonly signal: string | null
    readonly stderr: string
    readonly left: readonly string[]
  }>
}

const running = new Set<ChildProcessWithoutNullStreams>()

export function startChild(program: string, ...args: readonly string[]): Child {
  const child = spawn(node, [fileURLToPath(new URL(`./${program}`, import.meta.url)), ...args], {
    stdio: 'pipe',
  })
  running.add(child)
  const lines: string[] = []
  const waiting: { resolve(line: string): void; reject(error: Error): void }[] = []
  const listening = new Set<() => void>()
  let rest = ''
  let stderr = ''
  let over = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const first = waiting.shift()
      if (first) first.resolve(part)
      else lines.push(part)
    }
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    for (const check of [...listening]) check()
  })
  // Some tests write to a process that has ended.
  child.stdin.on('error', () => {})
  const exit = once(child, 'close').then(([code, signal]: unknown[]) => {
    over = true
    running.delete(child)
    for (const { reject } of waiting.splice(0)) reject(new Error(`The process ended: ${stderr}`))
    for (const check of [...listening]) check()
    return {
      code: code as number | null,
      signal: signal as string | null,
      stderr,
      left: rest === '' ? lines : [...lines, rest],
    }
  })
  const line = (): Promise<string> => {
    const first = lines.shift()
    if (first !== undefined) return Promise.resolve(first)
    if (over) return Promise.reject(new Error(`The process ended: ${stderr}`))
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
  }
  const write = async (bytes: string | Buffer): Promise<void> => {
    if (!child.stdin.write(bytes)) await Promise.race([once(child.stdin, 'drain'), exit])
  }
  return {
    process: child,
    write,
    send: (message) => write(`${JSON.stringify(message)}\n`),
    line,
    next: async () => JSON.parse(await line()) as Params,
    stderrMatches: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (pattern.test(stderr)) resolve()
          else if (over) reject(new Error(`The process ended without saying ${pattern}: ${stderr}`))
          else return
          listening.delete(check)
        }
        listening.add(check)
        check()
      }),
    exit,
  }
}

/** Kills the processes of a failed test. */
export async function killAll(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }),
  )
}
