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

/** Opens PostgreSQL if the environment names one, otherwise a file in the server's folder. */
export async function archiveFrom({ folder, env }: Pick<HostContext, 'folder' | 'env'>): Promise<Archive> {
  const url = env['FITNESS_POSTGRES']
  if (!url) return createArchive(sqliteFile(join(folder, 'fitness.db')))
  const { postgres } = await import('./postgres.ts')
  const sql = await postgres(url).catch((thrown: unknown) => {
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

/** Opens the archive and the providers that the environment names. */
export const open: OpenServer = async ({ folder, env, clock, logger }) => {
  const archive = await archiveFrom({ folder, env })
  const files = createFileReader(clock)
  const settings = settingsFrom(env)
  const strava = settings && createStrava(settings, archive, createVault(folder, env['FITNESS_KEY']), clock, logger)
  return {
    definition: defineFitness({ archive, files, strava, clock, logger }),
    maxMessageBytes,
    publicMethods,
    ...(!env['FITNESS_POSTGRES'] && { sharedStoreAdvice: 'set FITNESS_POSTGRES to a PostgreSQL database' }),
    secrets: ['FITNESS_KEY', 'FITNESS_POSTGRES', 'STRAVA_CLIENT_SECRET'],
    state: 'ready',
    async close() {
      await strava?.close()
      await files.close()
      await archive.close()
    },
  }
}
