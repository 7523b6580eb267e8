/** The thread of the atlas. It answers each message in order. */

import { parentPort } from 'node:worker_threads'
import type { AtlasFunctions, Outcome } from './atlas.ts'
import { createAtlas } from './atlas.ts'

export interface ToWorker {
  readonly id: number
  readonly name: keyof AtlasFunctions
  readonly args: readonly unknown[]
}
export interface FromWorker {
  readonly id: number
  /** `undefined` if the work failed for a reason that is not the caller's. */
  readonly outcome: Outcome<unknown> | undefined
  readonly error?: string
}

const atlas = createAtlas()
parentPort?.on('message', ({ id, name, args }: ToWorker) => {
  const work = atlas[name] as (...args: readonly unknown[]) => Outcome<unknown> | Promise<Outcome<unknown>>
  const answer = (message: Omit<FromWorker, 'id'>): void => parentPort?.postMessage({ id, ...message })
  const run = async (): Promise<Outcome<unknown>> => work(...args)
  run().then(
    (outcome) => answer({ outcome }),
    (thrown: unknown) => answer({ outcome: undefined, error: String(thrown) }),
  )
})
