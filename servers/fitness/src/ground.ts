/** What the tools work on, and the one way to a tenant's log: with something in it, and with its owner's last visit noted. */

import type { Clock, Logger, Work } from 'sluice'
import { fail } from 'sluice'
import type { Activity } from './activity.ts'
import type { Archive, Log } from './archive.ts'
import type { FileReader } from './files/reader.ts'
import type { Strava } from './strava/oauth.ts'
import { syntheticYear } from './synthetic.ts'

export interface Ground {
  readonly archive: Archive
  readonly files: FileReader
  /** Where the operator registered an application. */
  readonly strava: Strava | undefined
  readonly clock: Clock
  readonly logger: Logger
}

export async function logFor({ archive, clock, logger }: Ground, { call }: Pick<Work, 'call'>): Promise<Log> {
  const log = archive.of(call.tenant.id)
  // A failed note must not cost the answer; somebody should know all the same.
  log
    .touch(call.caller.subject, clock.now())
    .catch(() => logger.warn({ event: 'last_active.failed', tenant: log.tenant }))
  return log
}

/** With a made-up year in it while there is nothing else, so that every tool has something to say. */
export async function filledLog(ground: Ground, work: Work): Promise<Log> {
  const log = await logFor(ground, work)
  const isDeclined = (await log.connection('synthetic'))?.sealed === 'off'
  if (!isDeclined && (await log.count()) === 0) await log.add(syntheticYear(log.tenant, ground.clock.now()))
  return log
}

/** Real data has come: what was made up would only spoil it. */
export async function dropSynthetic(log: Log, nowMs: number): Promise<void> {
  await log.forget('synthetic')
  await log.connect('synthetic', 'off', nowMs)
}

export async function activityOf(log: Log, id: string): Promise<Activity> {
  const found = await log.get(id)
  if (!found) throw fail(`There is no activity ${id}. get_activities shows their ids.`)
  return found
}
