/** Routes between places, as an MCP server: `open` for hosts, the parts for who builds another provider. */

import type { Open, Site } from 'sluice'
import { openDatabase } from './database.ts'
import { defineRoutes } from './definition.ts'
import { createHistory } from './history.ts'
import { offline } from './offline/provider.ts'
import { osrm } from './providers/osrm.ts'
import { tomtom } from './providers/tomtom.ts'
import type { Provider } from './route.ts'
import { createUpstream } from './upstream.ts'

export type { Place, Provider, Route, RouteQuery } from './route.ts'

/** TomTom where there is a key, OSRM where there is an address, else offline. */
export function providerFrom(env: Site['env']): Provider {
  const { TOMTOM_API_KEY: key, TOMTOM_BASE_URL: baseUrl, OSRM_URL: osrmUrl } = env
  if (key) return tomtom({ key, ...(baseUrl && { baseUrl }) }, createUpstream())
  if (osrmUrl) return osrm(osrmUrl, createUpstream(), offline())
  return offline()
}

/** Opens the history and the provider that the environment names. */
export const open: Open = async ({ folder, env, clock, logger }) => {
  const database = openDatabase(folder, clock)
  const history = createHistory(database.sqlite, folder, clock, logger)
  return {
    definition: defineRoutes({ provider: providerFrom(env), database }, history),
    layers: [history.layer],
    state: 'ready',
    close: async () => database.close(),
  }
}
