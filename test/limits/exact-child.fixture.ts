/**
 * One of the processes that share a limiter. Started by exact.ts with the way to open the store; receives schedules.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../packages/sluice/src/core/store.ts'
import type { Attempt, Attempts, Schedule } from './exact.ts'

const [, , module = '', argument = ''] = process.argv
const { open }: { open(argument: string): Store } = await import(module)
const store = open(argument)
/** The same for all processes of this machine. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6

async function follow({ name, bucket, pauses }: Schedule): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = []
  for (const pause of pauses) {
    if (pause > 0) await sleep(pause)
    const asked = now()
    const waitMs = await store.take(['limit', name], bucket)
    attempts.push([asked, now(), waitMs])
  }
  return attempts
}

async function answer(schedules: readonly Schedule[]): Promise<void> {
  const entries = schedules.map(async (each) => [each.name, await follow(each)] as const)
  process.send?.(Object.fromEntries(await Promise.all(entries)) satisfies Attempts)
}

process.on('message', (schedules: readonly Schedule[]) => {
  answer(schedules).catch((thrown: unknown) => {
    console.error(thrown)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit())
