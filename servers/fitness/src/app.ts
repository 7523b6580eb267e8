/**
 * Defines what the tools share, and the only access to a tenant's log. The caller's last visit is recorded; a reading
 * tool writes nothing else.
 */

import type { Clock, Logger, ToolContext } from 'sluice'
import { fail } from 'sluice'
import type { Activity } from './activity.ts'
import type { Archive, TrainingLog } from './archive.ts'
import type { FileReader } from './files/reader.ts'
import type { Strava } from './strava/oauth.ts'

export interface App {
  readonly archive: Archive
  readonly files: FileReader
  /** Set if the operator registered an application. */
  readonly strava: Strava | undefined
  readonly clock: Clock
  readonly logger: Logger
}

export async function trainingLogFor(
  { archive, clock, logger }: App,
  { call }: Pick<ToolContext, 'call'>,
): Promise<TrainingLog> {
  const log = archive.forTenant(call.tenant.id)
  // A failed write of the last visit must not fail the call, but is logged.
  log
    .touch(call.caller.subject, clock.now())
    .catch(() => logger.warn({ event: 'last_active.failed', tenant: log.tenant }))
  return log
}

/**
 * Returned with every answer that is computed from activities, so that synthetic data is never mistaken for real data.
 */
export const isSynthetic = (activities: readonly Pick<Activity, 'provider'>[]): boolean =>
  activities.some(({ provider }) => provider === 'synthetic')

/** The answer of every tool while the log is empty. */
export const noActivities =
  'No activities yet. Add some with import_activities or connect_provider; the provider synthetic fills the log with a made-up year to try things out.'

/** Deletes synthetic data once there is real data, which it would distort. */
export async function deleteSynthetic(log: TrainingLog): Promise<void> {
  await log.deleteActivities('synthetic')
}

export async function findActivity(log: TrainingLog, id: string): Promise<Activity> {
  const found = await log.get(id)
  if (!found) throw fail(`Activity not found: ${id}. get_activities shows the ids.`)
  return found
}
