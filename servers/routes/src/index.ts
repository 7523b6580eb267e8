/** Routes between places, as an MCP server: `open` for hosts, `listenRequest` for programs with their own pipeline. */

import type { OpenServer } from 'sluice'
import { startAtlas } from './atlas/thread.ts'
import { openDatabase } from './database.ts'
import { defineRoutes } from './definition.ts'
import { createHistory } from './history.ts'
import { providerFrom } from './providers/from-environment.ts'

export type {
  ListenConnection,
  ListenError,
  ListenedRequest,
  ListenOptions,
  ListenRequest,
} from './listen-request.ts'
export { createListenRequest, listenRequest } from './listen-request.ts'
export type { Place, Provider, Route, RouteQuery } from './route.ts'

/** Opens the history and the provider that the environment names. */
export const open: OpenServer = async ({ folder, env, clock, logger }) => {
  const atlas = startAtlas(clock)
  const provider = providerFrom({ env, clock }, atlas)
  const database = await openDatabase(folder, clock)
  const history = createHistory(database.sqlite, folder, clock, logger)
  return {
    definition: defineRoutes({ provider, database, atlas }, history),
    layers: [history.layer],
    sharedStoreAdvice: 'leave it out',
    secrets: ['TOMTOM_API_KEY'],
    state: 'ready',
    async close() {
      await atlas.close()
      database.close()
    },
  }
}
