/**
 * Adds vectors to chunks that have none: new ones, and those stored while the service was unavailable. Memories are
 * stored first, so that a failure here loses nothing. Chunks that are stored together are embedded together.
 */

import type { Clock, Logger } from 'sluice'
import type { Archive, PieceVector, Workspace } from '../archive.ts'
import { WorkspaceDeleted } from '../archive.ts'
import type { Embedder } from './embedder.ts'
import { reasonOf } from './reason.ts'
import { EmbeddingsUnavailable } from './request.ts'

export interface CatchUp {
  /** Waits briefly until the workspace's chunks have vectors. Otherwise resolves with a sentence that says why not. */
  waitFor(workspace: Workspace): Promise<string | undefined>
  close(): void
}

/** How long one batch may take if no caller waits for it. */
const batchTimeoutMs = 60_000
const retryMs = 60_000

export function createCatchUp(archive: Archive, embedder: Embedder, clock: Clock, logger: Logger): CatchUp {
  const running = new Map<string, Promise<string | undefined>>()
  let retry: (() => void) | undefined
  let closed = false

  async function run(workspace: Workspace): Promise<string | undefined> {
    try {
      while (!closed) {
        const pieces = await workspace.unembedded(embedder.batchSize)
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
  /** Embeds one at a time, so that one rejected text does not block the others. */
  async function embedEach(tenant: string, texts: readonly string[]): Promise<readonly (Float32Array | undefined)[]> {
    try {
      return await embedder.embed(tenant, texts, batchTimeoutMs)
    } catch (thrown) {
      if (!(thrown instanceof EmbeddingsUnavailable) || thrown.kind !== 'text') throw thrown
      // A service that rejects everything must not mark every chunk as rejected.
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
      // The archive is unavailable; its own callers get the error.
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
      // The current run may have read its list before the latest chunks were stored, so it runs once more.
      const key = JSON.stringify([workspace.tenant, workspace.id])
      const work = running.has(key) ? start(workspace).then((why) => why ?? start(workspace)) : start(workspace)
      return new Promise((resolve, reject) => {
        const cancelTimer = clock.after(embedder.maxWaitMs, () =>
          resolve('Embedding takes longer: vectors are added in the background.'),
        )
        work.then(resolve, reject).finally(cancelTimer)
      })
    },
    close() {
      closed = true
      retry?.()
    },
  }
}
