/** Opens the memory server for a host: the archive, the embedding service and the definition. */

import { join } from 'node:path'
import type { HostContext, OpenServer } from 'sluice'
import type { App } from './app.ts'
import type { Archive } from './archive.ts'
import { defaultWorkspace } from './archive.ts'
import { archiveErrors } from './archive-errors.ts'
import { codeFolders } from './code/files.ts'
import { defineMemory } from './definition.ts'
import { createCatchUp } from './embeddings/catch-up.ts'
import { createEmbedder } from './embeddings/embedder.ts'
import { embeddingModel } from './embeddings/settings.ts'
import { workspaceId } from './inputs.ts'
import { createRecall } from './recall.ts'
import { threadArchive } from './sqlite/thread.ts'

/**
 * Enough for ten million characters of plain text. A larger message would block the event loop for more than 50 ms
 * while its JSON is parsed. Larger texts go through the command `import`.
 */
const maxMessageBytes = 12 * 1024 * 1024

/** Opens PostgreSQL if the environment names one or the host shares one, otherwise a file in the server's folder. */
export async function archiveFrom({
  folder,
  env,
  clock,
  postgres,
}: Pick<HostContext, 'folder' | 'env' | 'clock' | 'postgres'>): Promise<Archive> {
  const named = env['SLUICE_MEMORY_POSTGRES']
  const url = named || postgres
  if (!url) return threadArchive(join(folder, 'memory.db'))
  const { connectPostgres } = await import('./postgres/connect.ts')
  return connectPostgres(url, clock).catch((thrown: unknown) => {
    // The host explains errors of its store.
    if (!named) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw new Error(`Cannot use the database that SLUICE_MEMORY_POSTGRES names: ${why}`, { cause: thrown })
  })
}

/** Opens the archive and the embedding service that the environment names. */
export const open: OpenServer = async (host) => {
  const { env, clock, logger } = host
  const startsIn = workspaceId.safeParse(env['SLUICE_MEMORY_WORKSPACE'] ?? defaultWorkspace)
  if (!startsIn.success) throw new Error('SLUICE_MEMORY_WORKSPACE may contain only letters, digits, _ and -, up to 64')
  const closing = new AbortController()
  const model = embeddingModel(env, clock, closing.signal)
  const archive = await archiveFrom(host)
  const isRemote = Boolean(env['SLUICE_MEMORY_POSTGRES'] || host.postgres)
  const canEmbed = model ? await archive.useVectors(model.model) : false
  const embedder = model && canEmbed ? createEmbedder(model) : undefined
  const app: App = {
    archive,
    embedder,
    recall: createRecall(embedder, clock),
    catchUp: embedder && createCatchUp(archive, embedder, clock, logger),
    clock,
    initialWorkspace: startsIn.data,
    codeFolders: codeFolders(env['SLUICE_MEMORY_CODE']),
  }
  return {
    definition: defineMemory(app),
    layers: [archiveErrors(isRemote)],
    maxMessageBytes,
    ...(!isRemote && { sharedStoreAdvice: 'set SLUICE_MEMORY_POSTGRES to a PostgreSQL database' }),
    state: model && !canEmbed ? 'this archive cannot store vectors, so search is by words only' : 'ready',
    async close() {
      closing.abort()
      app.catchUp?.close()
      await model?.close()
      await archive.close()
    },
  }
}
