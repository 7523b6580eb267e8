/** `sluice audit`: search, verify, export and prune the record of what was called. */

import type { Verdict } from 'sluice'
import { allAudit, auditTenants, limitsFor, pruneAudit, readAudit, verifyAudit } from 'sluice'
import { limitsOf, retentionOf } from '../host/retention.ts'
import { clock } from '../host/run.ts'
import { secretOf } from '../host/store.ts'
import { CommandError, exitCodes, numberOf, shown, styled, table, toJson } from '../output.ts'
import type { Around } from './command.ts'
import type { OperatingOptions } from './operating.ts'
import { withStore } from './operating.ts'

export interface AuditOptions extends OperatingOptions {
  readonly tenant: string
  readonly limit?: string
}

/** Refused before anybody knew for whom they came. */
const nameOf = (tenant: string): string => (tenant === '' ? '(nobody)' : shown(tenant))

export const auditSearch = (around: Around, text: string | undefined, options: AuditOptions): Promise<number> =>
  withStore(around, options, async ({ store }) => {
    const { terminal } = around
    const most = numberOf('--limit', options.limit) ?? 50
    const wanted = (text ?? '').toLowerCase()
    const found = []
    let before: number | undefined
    do {
      const page = await readAudit(store, options.tenant, { before, limit: 500 })
      found.push(...page.entries.filter(({ record }) => JSON.stringify(record).toLowerCase().includes(wanted)))
      before = page.before
    } while (before !== undefined && found.length < most && !around.signal.aborted)
    const entries = found.slice(0, most)
    if (options.json) terminal.out(toJson(entries))
    else if (entries.length === 0)
      terminal.out(`Nothing found. Tenants with records: ${(await auditTenants(store)).join(', ') || 'none'}`)
    else
      terminal.out(
        table(
          terminal,
          ['NR', 'WHEN', 'WHAT', 'WHO', 'OF', 'OUTCOME', 'MORE'],
          entries.map(({ seq, record }) => {
            const {
              at,
              kind,
              caller,
              by,
              target,
              tool,
              ticket,
              outcome,
              approved,
              seq: _,
              writer: _w,
              ...more
            } = record
            const said = (value: unknown): string => (value === undefined ? '' : shown(String(value)))
            return [
              String(seq),
              new Date(Number(at)).toISOString().replace('T', ' ').slice(0, 19),
              said(kind),
              said(by ?? caller),
              said(target ?? tool ?? ticket),
              said(outcome ?? (approved === undefined ? undefined : approved ? 'approved' : 'denied')),
              shown(
                Object.entries(more)
                  .map(([name, value]) => `${name}=${String(value)}`)
                  .join(' '),
              ),
            ]
          }),
        ),
      )
    return exitCodes.ok
  })

/** Exit code 3 where a chain is not as it was written. */
export const auditVerify = (
  around: Around,
  options: OperatingOptions & { readonly tenant?: string },
): Promise<number> =>
  withStore(around, options, async ({ store }, config) => {
    const { terminal } = around
    const tenants = options.tenant === undefined ? await auditTenants(store) : [options.tenant]
    const secrets = (): readonly string[] => secretOf(config, around.env)
    const verdicts: (Verdict & { readonly tenant: string })[] = []
    for (const tenant of tenants) verdicts.push({ tenant, ...(await verifyAudit(store, tenant, { secrets, clock })) })
    if (options.json) terminal.out(toJson(verdicts))
    else
      for (const verdict of verdicts) {
        const mark = isProven(verdict) ? styled(terminal, 'green', '✓') : styled(terminal, 'red', '✗')
        terminal.out(`${mark} ${nameOf(verdict.tenant)}: ${sentenceOf(verdict)}`)
      }
    return verdicts.every(isProven) ? exitCodes.ok : exitCodes.found
  })

const isProven = (verdict: Verdict): boolean => verdict.intact && !verdict.checkpoint?.defect

function sentenceOf(verdict: Verdict): string {
  if (!verdict.intact)
    return verdict.problem === 'unsigned'
      ? `the checkpoint after record ${verdict.seq} is not signed with this secret`
      : `record ${verdict.seq} is ${verdict.problem}`
  const { records, head, checkpoint } = verdict
  if (!checkpoint) return `${records} records, head ${head.slice(0, 16)}…`
  const since = `pruned up to record ${checkpoint.seq} on ${new Date(checkpoint.at).toISOString().slice(0, 10)}`
  const { defect } = checkpoint
  const warning = defect ? `; record ${defect.seq} was ${defect.problem} when it was pruned by force` : ''
  return `${records} records, head ${head.slice(0, 16)}…, ${since}${warning}`
}

export interface PruneOptions extends OperatingOptions {
  readonly tenant?: string
  readonly days?: string
  readonly megabytes?: string
  readonly force?: boolean
}

/** Exit code 3 if a chain is not as it was written: then nothing of it is removed, unless forced. */
export const auditPrune = (around: Around, options: PruneOptions): Promise<number> =>
  withStore(around, options, async ({ store }, config) => {
    const { terminal } = around
    const days = numberOf('--days', options.days)
    const megabytes = numberOf('--megabytes', options.megabytes)
    const given =
      days === undefined && megabytes === undefined
        ? undefined
        : limitsOf({ maxAgeDays: days, maxMegabytes: megabytes })
    const kept = retentionOf(config.audit?.retention)
    if (!given && !kept)
      throw new CommandError('Say how much to keep: --days, --megabytes, or audit.retention in the configuration', 2)
    const tenants = options.tenant === undefined ? await auditTenants(store) : [options.tenant]
    const rows = []
    for (const tenant of tenants) {
      const limits = given ?? limitsFor(kept ?? {}, tenant)
      const pruned = await pruneAudit(store, tenant, {
        ...limits,
        secrets: () => secretOf(config, around.env),
        clock,
        writer: crypto.randomUUID(),
        by: around.env['USER'] ?? 'command',
        force: options.force === true,
        stopped: () => around.signal.aborted,
      })
      rows.push({ tenant, ...pruned })
    }
    if (options.json) terminal.out(toJson(rows))
    else
      for (const { tenant, removed, refused } of rows)
        terminal.out(
          refused
            ? `${styled(terminal, 'red', '✗')} ${nameOf(tenant)}: not pruned, ${sentenceOf({ intact: false, ...refused })}. Export it, then use --force.`
            : `${nameOf(tenant)}: ${removed} records removed`,
        )
    return rows.some(({ refused }) => refused) ? exitCodes.found : exitCodes.ok
  })

/** One record a line, oldest first: what other programs take. */
export const auditExport = (around: Around, options: AuditOptions): Promise<number> =>
  withStore(around, options, async ({ store }) => {
    let count = 0
    for await (const { hash, record } of allAudit(store, options.tenant)) {
      around.terminal.out(JSON.stringify({ ...record, hash }))
      await around.terminal.drained()
      count++
    }
    if (count === 0) throw new CommandError(`Tenant ${options.tenant} has no records`)
    return exitCodes.ok
  })

export const tenants = (around: Around, options: OperatingOptions): Promise<number> =>
  withStore(around, options, async ({ store }) => {
    const { terminal } = around
    const names = await auditTenants(store)
    const rows = await Promise.all(
      names.map(async (tenant) => {
        const { entries } = await readAudit(store, tenant, { before: undefined, limit: 1 })
        const at = entries[0]?.record['at']
        return {
          tenant,
          records: entries[0]?.seq ?? 0,
          last: typeof at === 'number' ? new Date(at).toISOString() : undefined,
        }
      }),
    )
    if (options.json) terminal.out(toJson(rows))
    else if (rows.length === 0) terminal.out('No tenant has called yet.')
    else
      terminal.out(
        table(
          terminal,
          ['TENANT', 'RECORDS', 'LAST CALL'],
          rows.map(({ tenant, records, last }) => [nameOf(tenant), String(records), last ?? '–']),
        ),
      )
    return exitCodes.ok
  })
