/** Tools for activities: lists, single ones, totals, and the import of files. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { toon } from 'sluice/toon'
import * as z from 'zod'
import { providers, sports } from '../activity.ts'
import type { App } from '../app.ts'
import { deleteSynthetic, findActivity, isSynthetic, noActivities, trainingLogFor } from '../app.ts'
import { importInto } from '../files/import.ts'
import { syncStrava } from '../strava/activities.ts'
import { round, stressOf } from '../training.ts'
import { activityId, paceOf, readOnlyTool, toActivityDetail, toActivityRow } from './activity-rows.ts'

/** In base64: the limit of a message. */
const maxUpload = 4 * 1024 * 1024
const epochSeconds = z.int().min(0).max(4_102_444_800)

export function activityTools(app: App): readonly Tool[] {
  return [
    tool({
      name: 'get_activities',
      description:
        'The athlete’s activities, newest first. Summary rows by default, all fields with mode detailed; format toon takes fewer tokens.',
      input: z.object({
        provider: z.enum(providers).optional().describe('Only from this provider; strava is synced first'),
        limit: z.int().min(1).max(500).default(50),
        offset: z.int().min(0).max(1_000_000).default(0),
        before: epochSeconds.optional().describe('Started before, in seconds since 1970'),
        after: epochSeconds.optional().describe('Started at or after, in seconds since 1970'),
        sport_type: z.enum(sports).optional(),
        mode: z.enum(['summary', 'detailed']).default('summary'),
      }),
      ...readOnlyTool,
      format: toon,
      task: 'auto',
      async run({ provider, limit, offset, before, after, sport_type: sport, mode }, context) {
        const log = await trainingLogFor(app, context)
        if (provider === 'strava') {
          if (!app.strava)
            throw fail(
              'This server has no Strava application: its operator must set STRAVA_CLIENT_ID and STRAVA_CLIENT_SECRET.',
            )
          if (
            (await syncStrava(app, app.strava, log, context.signal, (count) =>
              context.progress(count, undefined, 'from Strava'),
            )) > 0
          )
            await deleteSynthetic(log)
        }
        const query = { provider, sport, before, after }
        const [found, total] = await Promise.all([log.list({ ...query, limit, offset }), log.count(query)])
        return {
          total,
          count: found.length,
          offset,
          synthetic: isSynthetic(found),
          ...(total === 0 && (await log.count()) === 0 && { note: noActivities }),
          activities: found.map(mode === 'summary' ? toActivityRow : toActivityDetail),
        }
      },
    }),
    tool({
      name: 'get_athlete',
      description: 'The athlete’s profile: heart rates, threshold power and last visit.',
      ...readOnlyTool,
      async run(_, context) {
        const log = await trainingLogFor(app, context)
        const last = await log.lastActive(context.caller.subject)
        const { name, restingHr, maxHr, thresholdHr, ftp } = await log.athlete()
        return {
          name,
          resting_hr: restingHr,
          max_hr: maxHr,
          threshold_hr: thresholdHr,
          ftp,
          activities: await log.count(),
          synthetic: (await log.count({ provider: 'synthetic' })) > 0,
          last_active: last === undefined ? null : new Date(last).toISOString(),
        }
      },
    }),
    tool({
      name: 'get_stats',
      description: 'Totals by sport: all time, last four weeks and this year.',
      input: z.object({ provider: z.enum(providers).optional() }),
      ...readOnlyTool,
      format: toon,
      async run({ provider }, context) {
        const log = await trainingLogFor(app, context)
        const now = app.clock.now()
        const year = Date.UTC(new Date(now).getUTCFullYear(), 0) / 1000
        const spans = [
          ['all', 0],
          ['year', year],
          ['four_weeks', now / 1000 - 28 * 86_400],
        ] as const
        const all = await log.list({ provider })
        return {
          synthetic: isSynthetic(all),
          ...(all.length === 0 && { note: noActivities }),
          stats: spans.flatMap(([span, after]) =>
            sports.flatMap((sport) => {
              const some = all.filter((each) => each.sport === sport && each.startedAt >= after)
              if (some.length === 0) return []
              const sum = (of: (each: (typeof some)[number]) => number): number =>
                some.reduce((total, each) => total + of(each), 0)
              return [
                {
                  span,
                  sport,
                  count: some.length,
                  km: round(sum((each) => each.distanceM) / 1000),
                  hours: round(sum((each) => each.durationS) / 3600),
                  climb_m: Math.round(sum((each) => each.elevationM)),
                },
              ]
            }),
          ),
        }
      },
    }),
    tool({
      name: 'get_activity_intelligence',
      description:
        'One activity with its analysis: pace, intensity, training stress, and a comparison with similar ones.',
      input: z.object({ activity_id: activityId }),
      ...readOnlyTool,
      async run({ activity_id: id }, context) {
        const log = await trainingLogFor(app, context)
        const activity = await findActivity(log, id)
        const athlete = await log.athlete()
        const others = (await log.list({ sport: activity.sport, before: activity.startedAt, limit: 20 })).filter(
          (each) => each.distanceM > 0,
        )
        const typical =
          others.length === 0
            ? undefined
            : others.reduce((sum, each) => sum + each.durationS / each.distanceM, 0) / others.length
        const pace = activity.distanceM > 0 ? activity.durationS / activity.distanceM : undefined
        const quicker = typical && pace ? round((typical / pace - 1) * 100) : null
        return {
          ...toActivityDetail(activity),
          synthetic: isSynthetic([activity, ...others]),
          pace_s_per_km: paceOf(activity),
          speed_kmh: activity.durationS > 0 ? round((activity.distanceM / activity.durationS) * 3.6) : null,
          stress: round(stressOf(activity, athlete)),
          share_of_max_hr: activity.averageHr ? round((activity.averageHr / athlete.maxHr) * 100) : null,
          quicker_than_usual_percent: quicker,
          insight: effortSummary(activity.averageHr ? activity.averageHr / athlete.maxHr : undefined, quicker),
        }
      },
    }),
    tool({
      name: 'import_activities',
      description:
        'Add activities from FIT, GPX or TCX files, and sleep from FIT or the JSON of Garmin or Fitbit. Single files or the ZIP a provider exports, up to 3 MB together. Known activities stay unchanged.',
      input: z.object({
        files: z
          .array(
            z.object({
              name: z.string().min(1).max(300),
              content: z.base64().max(maxUpload).describe('The file, in base64'),
            }),
          )
          .min(1)
          .max(500),
      }),
      annotations: { idempotentHint: true, destructiveHint: false },
      listed: true,
      timeoutMs: 300_000,
      task: 'auto',
      async run({ files }, context) {
        const log = await trainingLogFor(app, context)
        const sources = files.map(({ name, content }) => ({
          name,
          read: async () => new Uint8Array(Buffer.from(content, 'base64')),
        }))
        const imported = await importInto(
          log,
          app.files,
          sources,
          (done, total, name) => context.progress(done, total, name),
          context.signal,
        )
        if (imported.added + imported.nights > 0) await deleteSynthetic(log)
        return imported
      },
    }),
  ]
}

function effortSummary(share: number | undefined, quicker: number | null): string {
  const effort =
    share === undefined
      ? 'No heart rate was recorded'
      : share < 0.7
        ? 'An easy effort'
        : share < 0.85
          ? 'A steady effort'
          : 'A hard effort'
  if (quicker === null) return `${effort}; no earlier activity of this sport to compare with.`
  if (Math.abs(quicker) < 2) return `${effort}, at the usual pace.`
  return `${effort}, ${Math.abs(quicker)} % ${quicker > 0 ? 'quicker' : 'slower'} than the last twenty of this sport.`
}
