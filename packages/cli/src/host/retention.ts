/** Converts the retention of the audit from days and megabytes to milliseconds and bytes. */

import type { Retention, RetentionLimits } from 'sluice/audit'
import type { Config } from '../config/schema.ts'

type Settings = NonNullable<NonNullable<Config['audit']>['retention']>

export const limitsOf = ({ maxAgeDays, maxMegabytes }: Omit<Settings, 'tenants'>): RetentionLimits => ({
  ...(maxAgeDays !== undefined && { maxAgeMs: maxAgeDays * 86_400_000 }),
  ...(maxMegabytes !== undefined && { maxBytes: maxMegabytes * 1_000_000 }),
})

/** Returns the retention; `undefined` if everything is kept. */
export function retentionOf(settings: Settings | null | undefined): Retention | undefined {
  if (!settings) return undefined
  const tenants = Object.entries(settings.tenants ?? {}).map(([id, limits]) => [id, limitsOf(limits)] as const)
  return { ...limitsOf(settings), tenants: Object.fromEntries(tenants) }
}
