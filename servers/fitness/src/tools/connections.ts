/** Tools for the other sources of data: Strava, with the athlete's consent, and the synthetic year. */

import type { Tool } from 'sluice'
import { ask, fail, tool } from 'sluice'
import { toon } from 'sluice/toon'
import * as z from 'zod'
import { providers } from '../activity.ts'
import type { App } from '../app.ts'
import { trainingLogFor } from '../app.ts'
import { syntheticNights, syntheticYear } from '../synthetic.ts'
import { readOnlyTool } from './activity-rows.ts'

const connectableProvider = z.enum(['strava', 'synthetic'])
const stravaNotConfigured =
  'This server has no Strava application: its operator must set STRAVA_CLIENT_ID and STRAVA_CLIENT_SECRET.'

export function connectionTools(app: App): readonly Tool[] {
  const { archive, strava, clock } = app
  return [
    tool({
      name: 'connect_provider',
      description: 'Connect a provider: strava opens its consent page; synthetic fills the log with a made-up year.',
      input: z.object({
        provider: connectableProvider,
        code: z
          .string()
          .min(1)
          .max(40)
          .optional()
          .describe('The code on the page that opened after Strava’s consent page'),
      }),
      annotations: { destructiveHint: false, openWorldHint: true },
      listed: true,
      async ask({ provider, code }, _, call) {
        if (provider !== 'strava' || !strava || code !== undefined) return {}
        const log = archive.forTenant(call.tenant.id)
        if (await log.connection('strava')) return {}
        const { subject } = call.caller
        // The user has consented. Only the code from the page is missing, and it comes through the chat.
        if (await strava.isPending(log, subject)) return {}
        const text = 'Allow this server to read your activities on Strava'
        const consent = ask.page(text, await strava.link(call.tenant.id, subject), 'strava')
        return ask.isSupported(call, consent) ? { consent } : {}
      },
      async run({ provider, code }, context) {
        const log = await trainingLogFor(app, context)
        if (provider === 'synthetic') {
          const added = await log.add(syntheticYear(log.tenant, clock.now()))
          await log.addNights(syntheticNights(log.tenant, clock.now()))
          return { provider, connected: true, synthetic: true, added }
        }
        if (!strava) throw fail(stravaNotConfigured)
        if (await log.connection('strava')) return { provider, connected: true }
        const { subject } = context.caller
        if (code !== undefined) {
          await strava.confirm(log, subject, code)
          return { provider, connected: true }
        }
        if (await strava.isPending(log, subject))
          return { provider, connected: false, next: 'Ask for the code on the page and call connect_provider with it.' }
        const url = await strava.link(log.tenant, subject)
        return {
          provider,
          connected: false,
          url,
          next: 'Open this address and allow access. The page then shows a code; call connect_provider again with that code.',
        }
      },
    }),
    tool({
      name: 'disconnect_provider',
      description:
        'Delete a provider’s tokens and everything that came from it; the provider files means imported files.',
      input: z.object({ provider: z.enum(providers) }),
      annotations: { destructiveHint: true, idempotentHint: true },
      async effect({ provider }, context) {
        const log = await trainingLogFor(app, context)
        return { Provider: provider, Activities: await log.count({ provider }) }
      },
      listed: true,
      async run({ provider }, context) {
        const log = await trainingLogFor(app, context)
        const removed = await log.deleteActivities(provider)
        await log.disconnect(provider)
        return { provider, connected: false, removed }
      },
    }),
    tool({
      name: 'get_connection_status',
      description: 'Which providers are connected, since when, and how many activities came from each.',
      ...readOnlyTool,
      format: toon,
      async run(_, context) {
        const log = await trainingLogFor(app, context)
        const rows = []
        for (const name of ['strava', 'files', 'synthetic'] as const) {
          const connection = await log.connection(name)
          const count = await log.count({ provider: name })
          const connected = name === 'strava' ? connection !== undefined : count > 0
          rows.push({
            provider: name,
            connected,
            available: name !== 'strava' || strava !== undefined,
            since: connected && connection ? new Date(connection.at).toISOString() : '',
            activities: count,
          })
        }
        return { providers: rows }
      },
    }),
  ]
}
