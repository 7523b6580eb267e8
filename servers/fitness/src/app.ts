/** What the tools work on, and the one way to a tenant's log. The caller's last visit is noted, which is all that a reading tool writes. */

import type { Clock, Logger, ToolContext } from 'sluice'
import { fail } from 'sluice'
import type { Activity } from './activity.ts'
import type { Archive, TrainingLog } from './archive.ts'
import type { FileReader } from './files/reader.ts'
import type { Strava } from './strava/oauth.ts'

export interface App {
  readonly archive: Archive
  readonly files: FileReader
  /** Where the operator registered an application. */
  readonly strava: Strava | undefined
  readonly clock: Clock
  readonly logger: Logger
}

export async function trainingLogFor(
  { archive, clock, logger }: App,
  { call }: Pick<ToolContext, 'call'>,
): Promise<TrainingLog> {
  const log = archive.forTenant(call.tenant.id)
  // A failed note must not cost the answer; somebody should know all the same.
  log
    .touch(call.caller.subject, clock.now())
    .catch(() => logger.warn({ event: 'last_active.failed', tenant: log.tenant }))
  return log
}

/** In every answer that is made from activities, so that nobody takes what was made up for what was done. */
export const isSynthetic = (activities: readonly Pick<Activity, 'provider'>[]): boolean =>
  activities.some(({ provider }) => provider === 'synthetic')

/** The answer to every question while the log is empty. */
export const noActivities =
  'No activities yet. Add some with import_activities or connect_provider; provider synthetic fills the log with a made-up year to try things out.'

/** Real data has come: what was made up would only spoil it. */
export async function deleteSynthetic(log: TrainingLog): Promise<void> {
  await log.deleteActivities('synthetic')
}

export async function findActivity(log: TrainingLog, id: string): Promise<Activity> {
  const found = await log.get(id)
  if (!found) throw fail(`There is no activity ${id}. get_activities shows their ids.`)
  return found
}
