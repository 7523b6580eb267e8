/** The tools for saved destinations: places under names that the caller chose. */

import type { Effect, Tool, ToolContext, ToolResult } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import type { Destination } from '../database.ts'
import { maxDestinations } from '../database.ts'
import { RouteError } from '../failure.ts'
import { toLanguage } from '../messages.ts'
import { locate, withFailures } from '../planner.ts'
import { toLocation } from '../request.ts'
import type { Place } from '../route.ts'

const name = z.string().trim().min(1).max(100).describe('What to call it, such as "home"')
const address = z.string().trim().min(1).max(200).describe('A place name, an address or "latitude,longitude"')
const language = z.string().max(20).optional().describe('Language of the answer: en (default) or vi')
const nameOrId = z.string().min(1).max(100).describe('Its name or id, as list_destinations shows them')

export function destinationTools(planner: App): readonly Tool[] {
  const { database } = planner
  const find = async ({ call }: ToolContext, nameOrId: string): Promise<Destination> => {
    const found = await database.destination(call.tenant.id, nameOrId)
    if (!found) throw new RouteError({ code: 'DESTINATION_NOT_FOUND', field: 'destination', subject: nameOrId })
    return found
  }
  const stated = async (tenant: string, nameOrId: string): Promise<Effect> => {
    const found = await database.destination(tenant, nameOrId)
    if (!found) throw fail(`Destination not found: ${nameOrId}. list_destinations shows the saved ones.`)
    return { Destination: lineOf(found) }
  }
  const placeOf = async (text: string, context: ToolContext, asked: string | undefined): Promise<Place> => {
    const at = toLocation(text)
    if (typeof at === 'object' && 'code' in at) throw new RouteError({ ...at, field: 'address' })
    return locate(planner, { field: 'address', location: at }, toLanguage(asked), context)
  }
  const save = async (context: ToolContext, destination: Parameters<typeof database.save>[1]): Promise<ToolResult> => {
    const saved = await database.save(context.call.tenant.id, destination)
    if (saved === 'full') throw new RouteError({ code: 'TOO_MANY_DESTINATIONS', subject: String(maxDestinations) })
    if (saved === 'taken')
      throw new RouteError({ code: 'DESTINATION_EXISTS', field: 'name', subject: destination.name })
    return { content: [{ type: 'text', text: lineOf(saved) }], structuredContent: { destination: saved } }
  }
  return [
    tool({
      name: 'save_destination',
      description: 'Save a place under a name, to use as origin or destination later.',
      input: z.object({ name, address, language }),
      annotations: { destructiveHint: false },
      run: (input, context) =>
        withFailures(toLanguage(input.language), String(context.call.id), async () => {
          const { lat, lon } = await placeOf(input.address, context, input.language)
          return save(context, { name: input.name, address: input.address, lat, lon })
        }),
    }),
    tool({
      name: 'list_destinations',
      description: 'The saved destinations.',
      annotations: { readOnlyHint: true },
      async run(_, { call }) {
        const destinations = await database.destinations(call.tenant.id)
        const text = destinations.length === 0 ? 'No destinations saved.' : destinations.map(lineOf).join('\n')
        return { content: [{ type: 'text', text }], structuredContent: { destinations } }
      },
    }),
    tool({
      name: 'update_destination',
      description: 'Give a saved destination another name or another address.',
      input: z.object({ destination: nameOrId, name: name.optional(), address: address.optional(), language }),
      annotations: { idempotentHint: true },
      effect: ({ destination }, { call }) => stated(call.tenant.id, destination),
      run: (input, context) =>
        withFailures(toLanguage(input.language), String(context.call.id), async () => {
          const before = await find(context, input.destination)
          const place = input.address === undefined ? before : await placeOf(input.address, context, input.language)
          return save(context, {
            id: before.id,
            name: input.name ?? before.name,
            address: input.address ?? before.address,
            lat: place.lat,
            lon: place.lon,
          })
        }),
    }),
    tool({
      name: 'delete_destination',
      description: 'Delete a saved destination.',
      input: z.object({ destination: nameOrId, language }),
      annotations: { destructiveHint: true, idempotentHint: true },
      effect: ({ destination }, { call }) => stated(call.tenant.id, destination),
      run: (input, context) =>
        withFailures(toLanguage(input.language), String(context.call.id), async () => {
          const found = await find(context, input.destination)
          await database.remove(context.call.tenant.id, found.id)
          return {
            content: [{ type: 'text', text: `Deleted ${lineOf(found)}` }],
            structuredContent: { deleted: found.id, destination: found },
          }
        }),
    }),
  ]
}

const lineOf = ({ id, name, address, lat, lon }: Destination): string => `${name}: ${address} (${lat}, ${lon}) [${id}]`
