/** Opens what a host runs: the archive and the providers that the environment names. */

import { join } from 'node:path'
import type { HostContext, OpenServer } from 'sluice'
import type { Archive } from './archive.ts'
import { createArchive } from './archive.ts'
import { defineFitness } from './definition.ts'
import { createFileReader } from './files/reader.ts'
import { sqliteFile } from './sqlite.ts'
import { createStrava, settingsFrom } from './strava/oauth.ts'
import { createVault } from './strava/seal.ts'

/** Opens PostgreSQL if the environment names one or the host shares one, otherwise a file in the server's folder. */
export async function archiveFrom({
  folder,
  env,
  postgres,
}: Pick<HostContext, 'folder' | 'env' | 'postgres'>): Promise<Archive> {
  const named = env['FITNESS_POSTGRES']
  const url = named || postgres
  if (!url) return createArchive(sqliteFile(join(folder, 'fitness.db')))
  const { connectPostgres } = await import('./postgres.ts')
  const sql = await connectPostgres(url).catch((thrown: unknown) => {
    // The host explains errors of its store.
    if (!named) throw thrown
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Cannot use the database that FITNESS_POSTGRES names: ${why}`, { cause: thrown })
  })
  return createArchive(sql)
}

/**
 * Enough for 3 MB of files in base64. A larger message would block the event loop for more than 50 ms while its JSON is
 * parsed. Larger exports go through the command `import`.
 */
const maxMessageBytes = 4 * 1024 * 1024

/** The list of tools is public, so that clients can show it before signing in; calls need a caller. */
const publicMethods = ['initialize', 'ping', 'server/discover', 'tools/list']

/** The log and the key of the providers' tokens are in this folder by default, which other processes may not see. */
function sharedStoreAdvice({ env, postgres }: HostContext, hasProvider: boolean): string | undefined {
  if (!env['FITNESS_POSTGRES'] && !postgres) return 'set FITNESS_POSTGRES to a PostgreSQL database'
  if (hasProvider && !env['FITNESS_KEY']) return 'set FITNESS_KEY (make one with: openssl rand -hex 32)'
  return undefined
}

/** Opens the archive and the providers that the environment names. */
export const open: OpenServer = async (host) => {
  const { folder, env, clock, logger } = host
  const archive = await archiveFrom(host)
  const files = createFileReader(clock)
  const settings = settingsFrom(env)
  const strava = settings && createStrava(settings, archive, createVault(folder, env['FITNESS_KEY']), clock, logger)
  const advice = sharedStoreAdvice(host, settings !== undefined)
  return {
    definition: defineFitness({ archive, files, strava, clock, logger }),
    maxMessageBytes,
    publicMethods,
    ...(advice !== undefined && { sharedStoreAdvice: advice }),
    secrets: ['FITNESS_KEY', 'FITNESS_POSTGRES', 'STRAVA_CLIENT_SECRET'],
    state: 'ready',
    async close() {
      await strava?.close()
      await files.close()
      await archive.close()
    },
  }
}
