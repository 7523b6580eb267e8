/** Routes between places, as an MCP server: `open` for hosts, `listenRequest` for programs with their own pipeline. */

import type { HostContext, OpenServer } from 'sluice'
import type { Atlas } from './atlas/thread.ts'
import { startAtlas } from './atlas/thread.ts'
import { openDatabase } from './database.ts'
import { defineRoutes } from './definition.ts'
import { createHistory } from './history.ts'
import { offline } from './providers/offline.ts'
import { osrm } from './providers/osrm.ts'
import { tomtom } from './providers/tomtom.ts'
import type { Provider } from './route.ts'
import { createUpstream } from './upstream.ts'

export type {
  ListenConnection,
  ListenError,
  ListenedRequest,
  ListenOptions,
  ListenRequest,
} from './listen-request.ts'
export { createListenRequest, listenRequest } from './listen-request.ts'
export type { Place, Provider, Route, RouteQuery } from './route.ts'

/** Chooses TomTom if there is a key, OSRM if there is an address, otherwise the offline provider. */
export function providerFrom({ env, clock }: Pick<HostContext, 'env' | 'clock'>, atlas: Atlas): Provider {
  const { TOMTOM_API_KEY: key, TOMTOM_BASE_URL: baseUrl, OSRM_URL: osrmUrl } = env
  if (key)
    return tomtom({ key, ...(baseUrl && { baseUrl: toAddress('TOMTOM_BASE_URL', baseUrl) }) }, createUpstream(clock))
  if (osrmUrl) return osrm(toAddress('OSRM_URL', osrmUrl), createUpstream(clock), offline(atlas))
  return offline(atlas)
}

/** Checks an address at the start, where the operator sees the error. */
function toAddress(variable: string, text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new Error(`${variable} must be an http or https address`)
  return text
}

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
