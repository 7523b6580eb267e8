/** Starts a program over stdio and measures the time until its first answer. The program is ended after it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { callMessage, echoText, openingMessages, type Revision } from '../lib/messages.ts'

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
