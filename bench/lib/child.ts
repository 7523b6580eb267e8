/**
 * A forked script that answers one request at a time over its channel.
 *
 * If a child ends or stays silent, the request fails with its name and its last output, so that a broken contender
 * costs its own row and not the run.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Child {
  /** Returns the next message from the child; with a question, its answer. The caller knows the type. */
  ask<Reply>(question?: unknown): Promise<Reply>
  close(): void
}

const silentAfterMs = 60_000

/** Logs are discarded: a library that writes a line per request still pays for the line, but no reader uses a core. */
const { BENCH_LOGS } = process.env
export const logs = BENCH_LOGS ? 'inherit' : 'ignore'

/** `program` runs the script instead of this Node: the path of a Bun. */
export function startChild(script: URL, program: string = process.execPath): Child {
  const path = fileURLToPath(script)
  const name = `${basename(dirname(path))}/${basename(path)}`
  const child: ChildProcess = fork(path, { execPath: program, stdio: ['ignore', 'ignore', logs, 'ipc'] })
  let ended: string | undefined
  child.on('exit', (code, signal) => {
    ended = `${name} ended with ${signal ?? code}; BENCH_LOGS=1 shows what it wrote`
  })

  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(new Error(ended))
        const settle = (then: () => void) => {
          clearTimeout(timer)
          child.off('message', onMessage)
          child.off('exit', onExit)
          then()
        }
        const onMessage = (reply: unknown) => settle(() => resolve(reply as never))
        const onExit = () => settle(() => reject(new Error(ended ?? `${name} ended`)))
        const timer = setTimeout(() => settle(() => reject(new Error(`${name} is silent`))), silentAfterMs)
        child.on('message', onMessage)
        child.on('exit', onExit)
        if (question !== undefined) child.send(question as object)
      }),
    close: () => {
      if (child.connected) child.disconnect()
    },
  }
}
