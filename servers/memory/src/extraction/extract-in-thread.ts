/** Extracts in a separate thread: 100,000 characters take seconds, and every other call would wait for them. */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Extraction } from './extract.ts'

/** In the same folder with the same extension: `.js` in the build and in a tarball, `.ts` in the sources. */
const workerUrl = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)

/** Ends the thread when the signal aborts. */
export function extractInThread(text: string, signal: AbortSignal): Promise<Extraction> {
  signal.throwIfAborted()
  const worker = new Worker(workerUrl, { workerData: text, env: {}, execArgv: [] })
  const stop = (): void => {
    worker.terminate().catch(() => {})
  }
  signal.addEventListener('abort', stop)
  return new Promise<Extraction>((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
    worker.on('exit', () => reject(signal.reason ?? new Error('The thread that extracts entities has stopped')))
  }).finally(() => signal.removeEventListener('abort', stop))
}
