/**
 * Gives vectors to pieces that have none: those just stored, and those left from when the service was away. Memories are
 * stored before this begins, so nothing is lost when it fails; what was stored together is embedded together.
 */

import type { Clock, Logger } from 'sluice'
import type { Archive, PieceVector, Workspace } from '../archive.ts'
import { WorkspaceDeleted } from '../archive.ts'
import type { Embedder } from './embedder.ts'
import { batchSize } from './embedder.ts'
import { reasonOf } from './reason.ts'
import { EmbeddingsUnavailable } from './request.ts'

export interface CatchUp {
  /** Waits a little until the workspace's pieces have vectors. Otherwise a sentence that says why not yet. */
  waitFor(workspace: Workspace): Promise<string | undefined>
  close(): void
}

/** How long a caller who stores waits for the vectors. */
const maxWaitMs = 5_000
/** How long one batch may take while nobody waits for it. */
const batchTimeoutMs = 60_000
const retryMs = 60_000

export function createCatchUp(archive: Archive, embedder: Embedder, clock: Clock, logger: Logger): CatchUp {
  const running = new Map<string, Promise<string | undefined>>()
  let retry: (() => void) | undefined
  let closed = false

  async function run(workspace: Workspace): Promise<string | undefined> {
    try {
      while (!closed) {
        const pieces = await workspace.unembedded(batchSize)
        if (pieces.length === 0) return undefined
        const texts = pieces.map(({ text }) => text)
        const vectors = await embedEach(workspace.tenant, texts)
        await workspace.embed(pieces.map(({ piece }, at): PieceVector => ({ piece, vector: vectors[at] })))
      }
      return undefined
    } catch (thrown) {
      if (thrown instanceof WorkspaceDeleted) return undefined
      const why = reasonOf(thrown, embedder.model)
      if (!closed) logger.warn({ event: 'embedding', outcome: 'later', why })
      retryLater()
      return why
    }
  }
  /** One text the service will not take must not keep the others from it. */
  async function embedEach(tenant: string, texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]> {
    try {
      return await embedder.embed(tenant, texts, batchTimeoutMs)
    } catch (thrown) {
      if (!(thrown instanceof EmbeddingsUnavailable) || thrown.kind !== 'text') throw thrown
      // A service that refuses everything must not have every piece marked as one that it will not take.
      await embedder.probe(batchTimeoutMs)
      if (texts.length === 1) return [undefined]
    }
    const vectors: (Float32Array | undefined)[] = []
    for (const text of texts) vectors.push(...(await embedEach(tenant, [text])))
    return vectors
  }
  function retryLater(): void {
    if (closed || retry) return
    retry = clock.after(retryMs, () => {
      retry = undefined
      everything().catch(retryLater)
    })
  }
  async function everything(): Promise<void> {
    try {
      for (const workspace of await archive.unembedded()) await start(workspace)
    } catch {
      // The archive is away; its own callers hear of it.
      retryLater()
    }
  }
  function start(workspace: Workspace): Promise<string | undefined> {
    const key = JSON.stringify([workspace.tenant, workspace.id])
    const under = running.get(key)
    if (under) return under
    const work = run(workspace).finally(() => running.delete(key))
    running.set(key, work)
    return work
  }

  everything().catch(retryLater)
  return {
    waitFor(workspace) {
      // What runs now may have read its list before the latest was stored: then once more.
      const key = JSON.stringify([workspace.tenant, workspace.id])
      const work = running.has(key) ? start(workspace).then((why) => why ?? start(workspace)) : start(workspace)
      return new Promise((resolve, reject) => {
        const callOff = clock.after(maxWaitMs, () =>
          resolve('The embedding service is slow: vectors follow behind the scenes.'),
        )
        work.then(resolve, reject).finally(callOff)
      })
    },
    close() {
      closed = true
      retry?.()
    },
  }
}
