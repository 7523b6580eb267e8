/** The atlas in its thread, as functions that return promises. The thread ends when it is unused, and starts again. */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from 'sluice'
import { RouteError } from '../failure.ts'
import type { AtlasFunctions, Outcome } from './atlas.ts'
import type { FromWorker, ToWorker } from './worker.ts'

export type Atlas = {
  readonly [name in keyof AtlasFunctions]: (
    ...args: Parameters<AtlasFunctions[name]>
  ) => Promise<ValueOf<Awaited<ReturnType<AtlasFunctions[name]>>>>
} & { close(): Promise<void> }

type ValueOf<O> = O extends { readonly value: infer T } ? T : never

/** In the same folder with the same extension: `.js` in the build and in a tarball, `.ts` in the sources. */
const workerUrl = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)
/** The tables take two hundred megabytes. Reading them again takes a second. */
const idleMs = 10 * 60_000
/** Twice what the tables need; without it the thread would keep what it unpacked at the start. */
const maxHeapMb = 320

interface Pending {
  resolve(outcome: Outcome<unknown>): void
  reject(thrown: unknown): void
}

/** Starts the thread at once, so that the first caller does not wait for it. */
export function startAtlas(clock: Pick<Clock, 'after'>): Atlas {
  let worker: Worker | undefined
  let cancelIdle = (): void => {}
  let nextId = 0
  let isClosed = false
  const pending = new Map<number, Pending>()

  function start(): Worker {
    const made = new Worker(workerUrl, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
    const end = (thrown: unknown): void => {
      if (worker !== made) return
      worker = undefined
      for (const { reject } of pending.values()) reject(thrown)
      pending.clear()
    }
    made.on('message', ({ id, outcome, error }: FromWorker) => {
      const waiting = pending.get(id)
      pending.delete(id)
      if (outcome) waiting?.resolve(outcome)
      else waiting?.reject(new Error(error))
      if (pending.size === 0) rest(made)
    })
    made.on('error', end)
    made.on('exit', () => end(new Error('The atlas thread ended')))
    worker = made
    rest(made)
    return made
  }
  /** An idle thread keeps neither the process nor its memory. */
  function rest(made: Worker): void {
    made.unref()
    cancelIdle()
    cancelIdle = clock.after(idleMs, () => {
      if (worker === made && pending.size === 0) {
        worker = undefined
        made.terminate().catch(() => {})
      }
    })
  }
  async function call(name: keyof AtlasFunctions, args: readonly unknown[]): Promise<unknown> {
    if (isClosed) throw new Error('The atlas is closed')
    const thread = worker ?? start()
    cancelIdle()
    thread.ref()
    const id = nextId++
    const outcome = await new Promise<Outcome<unknown>>((resolve, reject) => {
      pending.set(id, { resolve, reject })
      thread.postMessage({ id, name, args } satisfies ToWorker)
    })
    if ('failure' in outcome) throw new RouteError(outcome.failure)
    return outcome.value
  }
  start()
  const bind =
    (name: keyof AtlasFunctions) =>
    (...args: readonly unknown[]) =>
      call(name, args)
  return {
    ...(Object.fromEntries(
      (['geocode', 'route', 'svg', 'picture'] as const).map((name) => [name, bind(name)]),
    ) as unknown as Omit<Atlas, 'close'>),
    async close() {
      isClosed = true
      cancelIdle()
      await worker?.terminate()
    },
  }
}
