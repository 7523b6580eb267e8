/** The server definition: tools, the routes and the history as resources, and a prompt. */

import type { ServerDefinition } from 'sluice'
import { defineServer, prompt, resource } from 'sluice'
import * as z from 'zod'
import { toMapTrip } from './answer.ts'
import type { App } from './app.ts'
import { coverageOf } from './coverage.ts'
import type { History } from './history.ts'
import { description, version } from './package.ts'
import { destinationTools } from './tools/destinations.ts'
import { routeTools } from './tools/routes.ts'

export function defineRoutes(planner: App, history: History): ServerDefinition {
  const { database, provider, atlas } = planner
  return defineServer({
    name: 'routes',
    version,
    title: 'Routes',
    description,
    instructions: `Plans routes with calculate_route. ${coverageOf(provider)}${
      provider.approximate ? ' Distances and times are approximate; say so when you pass them on.' : ''
    } Answers are in English, or in Vietnamese with language "vi".`,
    tools: [...routeTools(planner), ...destinationTools(planner)],
    resources: [
      resource({
        uri: 'route://{id}',
        name: 'route',
        description: 'A planned route with every step and its line on the map.',
        mimeType: 'application/json',
        list: async (_, { call }) => ({
          resources: (await database.routes(call.tenant.id)).map(({ id, at }) => ({
            uri: `route://${id}`,
            name: `Route of ${at}`,
            mimeType: 'application/json',
          })),
        }),
        read: ({ id }, { call }) => database.findRoute(call.tenant.id, String(id)),
      }),
      resource({
        uri: 'route://{id}/map.svg',
        name: 'map',
        description: 'The map of a planned route.',
        mimeType: 'image/svg+xml',
        read: async ({ id }, { call }) => {
          const json = await database.findRoute(call.tenant.id, String(id))
          return json === undefined ? undefined : atlas.svg(toMapTrip(json))
        },
      }),
      resource({
        uri: 'history://requests',
        name: 'history',
        description: 'The last hundred requests: time, tool, client and outcome.',
        mimeType: 'application/json',
        read: (_, { call }) => JSON.stringify(history.recent(call.tenant.id, 100)),
      }),
    ],
    prompts: [
      prompt({
        name: 'plan-a-trip',
        description: 'Plan a trip over several stops and compare the routes.',
        input: z.object({ from: z.string(), to: z.string(), stops: z.string().optional() }),
        run: ({ from, to, stops }) =>
          `Plan a trip from ${from} to ${to}${stops ? ` by way of ${stops}` : ''}. Use calculate_route, compare travel modes and alternatives, name distances and times, and say where they are approximate.`,
      }),
    ],
  })
}
