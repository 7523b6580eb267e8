/** The tools that plan routes and look up places. */

import type { Tool } from 'sluice'
import { tool } from 'sluice'
import * as z from 'zod'
import { toFailure } from '../answer.ts'
import { routeMap } from '../app/route-map.ts'
import type { App } from '../app.ts'
import { coverageOf } from '../coverage.ts'
import { toLanguage } from '../messages.ts'
import { plan, withFailures } from '../planner.ts'
import { routeInput, toLocation } from '../request.ts'

export function routeTools(planner: App): readonly Tool[] {
  const { provider } = planner
  const annotations = { readOnlyHint: true, openWorldHint: provider.name !== 'offline' }
  return [
    tool({
      name: 'calculate_route',
      title: 'Plan a route',
      description: `A route from one place to another: distance, time, steps and a map. Places are names ("Hanoi"; "Paris, France"), coordinates or saved destinations. ${coverageOf(provider)}`,
      input: routeInput,
      annotations,
      ui: routeMap,
      run: (input, context) => plan(planner, input, context, false),
    }),
    tool({
      name: 'get_route_with_traffic',
      title: 'Plan a route with traffic',
      description: `Like calculate_route, with current traffic delays.${provider.hasTraffic ? '' : ' Not available: the provider of this server has no traffic data.'}`,
      input: routeInput,
      annotations,
      ui: routeMap,
      run: (input, context) => plan(planner, input, context, true),
    }),
    tool({
      name: 'geocode_address',
      title: 'Find a place',
      description: 'The coordinates of a place or an address, best match first.',
      input: z.object({
        address: z.string().min(1).max(200).describe('A place name or an address, such as "Đà Nẵng"'),
        language: z.string().max(20).optional().describe('Language of the answer: en (default) or vi'),
      }),
      annotations,
      run({ address, language: asked }, { call, signal }) {
        const language = toLanguage(asked)
        const requestId = String(call.id)
        return withFailures(language, requestId, async () => {
          const spot = toLocation(address)
          if (typeof spot === 'object' && 'code' in spot)
            return toFailure([{ ...spot, field: 'address' }], language, requestId)
          const places =
            typeof spot === 'object' ? [{ name: address, ...spot }] : await provider.geocode(spot, language, signal)
          if (places.length === 0)
            return toFailure([{ code: 'PLACE_NOT_FOUND', field: 'address', subject: address }], language, requestId)
          const text = places.map(({ name, lat, lon }) => `${name}: ${lat}, ${lon}`).join('\n')
          return { content: [{ type: 'text', text }], structuredContent: { places } }
        })
      },
    }),
  ]
}
