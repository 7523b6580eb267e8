/** The thread that reads files. It answers each message with one batch, and with `null` after the last one. */

import { parentPort } from 'node:worker_threads'
import type { Batch } from './source.ts'
import { readSource } from './source.ts'

/** A source starts; `undefined` asks for the next batch of the one that has started. */
export type ToWorker = { readonly name: string; readonly bytes: Uint8Array } | undefined
export type FromWorker = Batch | null

let batches: Generator<Batch> | undefined
parentPort?.on('message', (message: ToWorker) => {
  if (message) batches = readSource(message.name, message.bytes)
  const next = batches?.next()
  const answer: FromWorker = next && !next.done ? next.value : null
  parentPort?.postMessage(answer)
})
