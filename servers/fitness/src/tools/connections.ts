/** Where data comes from besides files: Strava, by the athlete's own consent, and the made-up year. */

import type { Tool } from 'sluice'
import { canAsk, fail, tool, visit } from 'sluice'
import { toon } from 'sluice/toon'
import * as z from 'zod'
import { providers } from '../activity.ts'
import type { Ground } from '../ground.ts'
import { dropSynthetic, logFor } from '../ground.ts'
import { syntheticYear } from '../synthetic.ts'
import { reading } from './shown.ts'

const connectable = z.enum(['strava', 'synthetic'])
const unknown = 'This server knows no Strava application: its operator sets STRAVA_CLIENT_ID and STRAVA_CLIENT_SECRET.'

export function connectionTools(ground: Ground): readonly Tool[] {
  const { archive, strava, clock } = ground
  return [
    tool({
      name: 'connect_provider',
      description: 'Connect a provider: strava opens its consent page; synthetic fills the log with a made-up year.',
      input: z.object({ provider: connectable }),
      annotations: { destructiveHint: false, openWorldHint: true },
      listed: true,
      async ask({ provider }, _, call) {
        if (provider !== 'strava' || !strava || (await archive.of(call.tenant.id).connection('strava'))) return {}
        const text = 'Allow this server to read your activities on Strava'
        const consent = visit(text, await strava.link(call.tenant.id), 'strava')
        return canAsk(call, consent) ? { consent } : {}
      },
      async run({ provider }, work) {
        const log = await logFor(ground, work)
        if (provider === 'synthetic') {
          await log.disconnect('synthetic')
          const added = await log.add(syntheticYear(log.tenant, clock.now()))
          return { provider, connected: true, added }
        }
        if (!strava) throw fail(unknown)
        if (await log.connection('strava')) return { provider, connected: true }
        const url = await strava.link(log.tenant)
        return {
          provider,
          connected: false,
          url,
          next: 'Open this address, allow it, then call get_connection_status.',
        }
      },
    }),
    tool({
      name: 'disconnect_provider',
      description: 'Forget a provider’s tokens and everything that came from it; files stands for what was imported.',
      input: z.object({ provider: z.enum(providers) }),
      annotations: { destructiveHint: true, idempotentHint: true },
      async effect({ provider }, context) {
        const log = await logFor(ground, context)
        return { Provider: provider, Activities: await log.count({ provider }) }
      },
      listed: true,
      async run({ provider }, work) {
        const log = await logFor(ground, work)
        const removed = await log.forget(provider)
        if (provider === 'synthetic') await dropSynthetic(log, clock.now())
        else await log.disconnect(provider)
        return { provider, connected: false, removed }
      },
    }),
    tool({
      name: 'get_connection_status',
      description: 'Which providers are connected, since when, and how many activities came from each.',
      ...reading,
      format: toon,
      async run(_, work) {
        const log = await logFor(ground, work)
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
