/**
 * Reads files in worker threads. An untrusted file can cost seconds and gigabytes to parse, so a thread has a memory
 * limit and each batch a deadline. A thread that exceeds either is terminated with the file it was reading.
 */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from 'sluice'
import { UnreadableFile } from './read.ts'
import type { Batch } from './source.ts'
import type { FromWorker, ToWorker } from './worker.ts'

export interface FileReader {
  /** Yields the contents of the file or ZIP. Throws `UnreadableFile` if it takes too long or too much memory. */
  read(name: string, bytes: Uint8Array, signal?: AbortSignal): AsyncGenerator<Batch>
  close(): Promise<void>
}

export interface FileReaderOptions {
  /** The maximum number of threads. Further sources wait, so that many imports do not use up the machine. */
  readonly threads?: number
  /** The deadline of one batch, which contains at least one file. */
  readonly deadlineMs?: number
  /** The heap limit of one thread. */
  readonly maxHeapMb?: number
  /** How long an unused thread stays alive, because the next file of the same import may follow. */
  readonly idleMs?: number
}

/** In the same folder with the same extension: `.js` in the build and in a tarball, `.ts` in the sources. */
const workerUrl = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)

interface Thread {
  request(message: ToWorker, name: string, signal: AbortSignal | undefined): Promise<FromWorker>
  readonly isAlive: boolean
  terminate(): Promise<void>
}

export function createFileReader(clock: Clock, options: FileReaderOptions = {}): FileReader {
  const { threads = 2, deadlineMs = 20_000, maxHeapMb = 512, idleMs = 5_000 } = options
  const idle: Thread[] = []
  const waiting: (() => void)[] = []
  let running = 0
  let cancelIdle = (): void => {}

  const endIdle = async (): Promise<void> => {
    await Promise.all(idle.splice(0).map((thread) => thread.terminate()))
  }
  async function acquire(signal: AbortSignal | undefined): Promise<void> {
    if (running < threads) {
      running++
      return
    }
    // `release` passes the slot on and leaves `running` unchanged.
    await new Promise<void>((resolve, reject) => {
      const abandon = (): void => {
        waiting.splice(waiting.indexOf(start), 1)
        reject(signal?.reason)
      }
      const start = (): void => {
        signal?.removeEventListener('abort', abandon)
        resolve()
      }
      waiting.push(start)
      signal?.addEventListener('abort', abandon, { once: true })
    })
  }
  function release(thread: Thread): void {
    if (thread.isAlive) idle.push(thread)
    const next = waiting.shift()
    if (next) next()
    else running--
    cancelIdle()
    if (running === 0)
      cancelIdle = clock.after(idleMs, () => {
        endIdle().catch(() => {})
      })
  }

  return {
    async *read(name, bytes, signal) {
      signal?.throwIfAborted()
      await acquire(signal)
      const thread = idle.pop() ?? createThread(clock, deadlineMs, maxHeapMb)
      let isFinished = false
      try {
        let batch = await thread.request({ name, bytes }, name, signal)
        while (batch) {
          yield batch
          batch = await thread.request(undefined, name, signal)
        }
        isFinished = true
      } finally {
        // A caller that stops early leaves a source half read.
        if (!isFinished) await thread.terminate()
        release(thread)
      }
    },
    async close() {
      cancelIdle()
      await endIdle()
    },
  }
}

function createThread(clock: Clock, deadlineMs: number, maxHeapMb: number): Thread {
  const worker = new Worker(workerUrl, {
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 32 },
    // The thread parses untrusted input, so it gets no secret of the process.
    env: {},
    execArgv: [],
  })
  worker.unref()
  let isAlive = true
  let settle: { resolve(answer: FromWorker): void; reject(thrown: unknown): void } | undefined
  let failure: unknown
  worker.on('message', (answer: FromWorker) => settle?.resolve(answer))
  worker.on('error', (thrown: unknown) => {
    failure = thrown
  })
  worker.on('exit', () => {
    isAlive = false
    settle?.reject(failure ?? new Error('The thread that reads files has ended'))
  })
  return {
    get isAlive() {
      return isAlive
    },
    async terminate() {
      isAlive = false
      await worker.terminate()
    },
    async request(message, name, signal) {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<FromWorker>()
      settle = { resolve, reject }
      const cancelDeadline = clock.after(deadlineMs, () =>
        reject(new UnreadableFile(`${name}: reading it takes longer than ${deadlineMs / 1000} s`)),
      )
      const abort = (): void => reject(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      // The process must not exit while an import waits for its thread.
      worker.ref()
      try {
        // Sends a copy, because the underlying buffer may contain other data too.
        const bytes = message && new Uint8Array(message.bytes)
        worker.postMessage(message && { name, bytes }, bytes ? [bytes.buffer] : [])
        return await promise
      } catch (thrown) {
        throw isOutOfMemory(thrown) ? new UnreadableFile(`${name}: reading it takes more than ${maxHeapMb} MB`) : thrown
      } finally {
        worker.unref()
        settle = undefined
        cancelDeadline()
        signal?.removeEventListener('abort', abort)
      }
    },
  }
}

const isOutOfMemory = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY'
