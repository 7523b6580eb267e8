/** Checks approvals: whether the clock was set back, and whether the store is a copy with spent approvals unspent. */

import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TimeMark } from 'sluice/approvals'
import { readApprovalTime } from 'sluice/approvals'
import type { Environment } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import { openStore } from '../host/store.ts'
import { plural } from '../output.ts'
import type { Finding } from './finding.ts'
import { good, note } from './finding.ts'

const minute = 60_000

export async function checkApprovals(config: Config, env: Environment): Promise<readonly Finding[]> {
  if (config.store === 'memory') return []
  const { store, close } = await openStore(config, env)
  try {
    const mark = await readApprovalTime(store)
    const { decideMs = 10 * minute, runMs = 10 * minute } = config.approvals
    const madeAt = config.store === 'sqlite' ? fileCreatedAt(join(resolve(config.data), 'sluice.db')) : undefined
    return mark ? approvalFindings({ mark, madeAt, now: Date.now(), openMs: decideMs + runMs }) : []
  } finally {
    await close()
  }
}

export interface ApprovalsSnapshot {
  readonly mark: TimeMark
  /** The creation time of the store's file; `undefined` if unknown. */
  readonly madeAt: number | undefined
  readonly now: number
  /** The longest time from a call to its run. */
  readonly openMs: number
}

export function approvalFindings({ mark, madeAt, now, openMs }: ApprovalsSnapshot): readonly Finding[] {
  const behind = Math.round((mark.at - now) / minute)
  if (behind >= 1)
    return [
      note(
        'Approvals',
        `the clock is ${plural(behind, 'minute')} behind the last approval: it was set back`,
        'Correct the clock. Until then approvals use the time of the store, and none is valid longer',
      ),
    ]
  // Allows a minute, because the file exists before its first mark and file systems round times.
  const isCopy = madeAt !== undefined && madeAt > mark.began + minute
  if (isCopy && now - madeAt < openMs)
    return [
      note(
        'Approvals',
        'the store was restored from a copy, in which spent approvals may look unspent',
        `Deny the tickets of "sluice approvals list --status approved", or wait ${plural(Math.ceil((openMs - now + madeAt) / minute), 'minute')} until they have expired`,
      ),
    ]
  return [good('Approvals', 'their time has not gone back')]
}

function fileCreatedAt(path: string): number | undefined {
  const { birthtimeMs } = statSync(path)
  return birthtimeMs > 0 ? birthtimeMs : undefined
}
