/**
 * Another process that holds the write lock of a SQLite file, and the longest event-loop turn of this process in the
 * meantime.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface HeldLock {
  /** Resolves when the lock is free again. */
  release(): Promise<void>
}

export async function holdLock(path: string): Promise<HeldLock> {
  const program = new URL('lock-holder.fixture.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    exit.then(() => Promise.reject(new Error(`No lock was taken on ${path}`))),
  ])
  return {
    async release() {
      child.stdin.end()
      await exit
    },
  }
}

/** Measures the longest event-loop turn until it is asked. */
export function watchEventLoop(): { longestMs(): number } {
  let longest = 0
  let last = performance.now()
  const sample = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(sample, 1)
  return {
    longestMs() {
      sample()
      clearInterval(timer)
      return Math.round(longest)
    },
  }
}
