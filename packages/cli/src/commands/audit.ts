/** `sluice audit`: searches, verifies, exports and prunes the audit log. */

import type { AuditEntry, AuditVerdict } from 'sluice/audit'
import {
  auditTenants,
  eachAuditTenant,
  limitsFor,
  pruneAudit,
  readAllAudit,
  readAudit,
  verifyAudit,
} from 'sluice/audit'
import { limitsOf, retentionOf } from '../host/retention.ts'
import { clock } from '../host/run.ts'
import { secretOf } from '../host/store.ts'
import { CommandError, escapeControls, exitCodes, numberOf, plural, shortId, styled, table, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { StoreCommandOptions } from './with-store.ts'
import { withStore } from './with-store.ts'

export interface AuditOptions extends StoreCommandOptions {
  readonly tenant: string
}

export interface SearchOptions extends StoreCommandOptions {
  /** All by default. */
  readonly tenant?: string
  readonly limit?: string
}

/** Names a tenant. Calls that were refused before authentication have none. */
const nameOf = (tenant: string): string => (tenant === '' ? '(no tenant)' : escapeControls(tenant))

export const auditSearch = (
  context: CommandContext,
  text: string | undefined,
  options: SearchOptions,
): Promise<number> =>
  withStore(context, options, async ({ store }) => {
    const { terminal } = context
    const limit = numberOf('--limit', options.limit) ?? 50
    const query = (text ?? '').toLowerCase()
    const tenants = options.tenant === undefined ? await auditTenants(store) : [options.tenant]
    const found: (AuditEntry & { readonly tenant: string })[] = []
    for (const tenant of tenants) {
      let [before, matches] = [undefined as number | undefined, 0]
      do {
        const page = await readAudit(store, tenant, { before, limit: 500 })
        for (const entry of page.entries)
          if (JSON.stringify(entry.record).toLowerCase().includes(query) && ++matches <= limit)
            found.push({ tenant, ...entry })
        before = page.before
      } while (before !== undefined && matches < limit && !context.signal.aborted)
    }
    const timeOf = ({ record }: AuditEntry): number => Number(record['at'] ?? 0)
    // Records of one tenant keep their order, because a clock may be set back.
    if (tenants.length > 1) found.sort((one, other) => timeOf(other) - timeOf(one))
    const entries = found.slice(0, limit)
    if (options.json) terminal.out(toJson(entries))
    else if (entries.length === 0)
      terminal.out(`No matching records. Tenants with records: ${(await auditTenants(store)).join(', ') || 'none'}`)
    else
      terminal.out(
        table(
          terminal,
          // The outcome comes before the details, because a narrow terminal has no room for the columns at the end.
          ['TIME', 'EVENT', 'CALLER', 'TARGET', 'OUTCOME', 'TENANT', 'SEQ', 'DETAILS'],
          entries.map(({ seq, tenant, record }) => {
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
            const shown = (value: unknown): string => (value === undefined ? '' : escapeControls(String(value)))
            return [
              new Date(Number(at)).toISOString().replace('T', ' ').slice(0, 19),
              shown(kind),
              shown(by ?? caller),
              shown(
                target ??
                  tool ??
                  record['upstream'] ??
                  (terminal.isTty && typeof ticket === 'string' ? shortId(ticket) : ticket),
              ),
              shown(outcome ?? (approved === undefined ? undefined : approved ? 'approved' : 'denied')),
              nameOf(tenant),
              String(seq),
              escapeControls(
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

/** Verifies the chains. The exit code is 3 if a chain was changed. */
export const auditVerify = (
  context: CommandContext,
  options: StoreCommandOptions & { readonly tenant?: string },
): Promise<number> =>
  withStore(context, options, async ({ store }, config) => {
    const { terminal } = context
    const tenants = options.tenant === undefined ? eachAuditTenant(store) : [options.tenant]
    const secrets = (): readonly string[] => secretOf(config, context.env)
    const verdicts: (AuditVerdict & { readonly tenant: string })[] = []
    for await (const tenant of tenants)
      verdicts.push({ tenant, ...(await verifyAudit(store, tenant, { secrets, clock })) })
    if (options.json) terminal.out(toJson(verdicts))
    else
      for (const verdict of verdicts) {
        const mark = isProven(verdict) ? styled(terminal, 'green', '✓') : styled(terminal, 'red', '✗')
        terminal.out(`${mark} ${nameOf(verdict.tenant)}: ${describeVerdict(verdict)}`)
      }
    return verdicts.every(isProven) ? exitCodes.ok : exitCodes.found
  })

const isProven = (verdict: AuditVerdict): boolean => verdict.intact && !verdict.checkpoint?.defect

function describeVerdict(verdict: AuditVerdict): string {
  if (!verdict.intact)
    return verdict.problem === 'unsigned'
      ? `the checkpoint after record ${verdict.seq} is not signed with this secret`
      : `record ${verdict.seq} is ${verdict.problem}`
  const { records, head, checkpoint } = verdict
  if (!checkpoint) return `${plural(records, 'record')}, head ${head.slice(0, 16)}…`
  const since = `pruned up to record ${checkpoint.seq} on ${new Date(checkpoint.at).toISOString().slice(0, 10)}`
  const { defect } = checkpoint
  const warning = defect ? `; record ${defect.seq} was ${defect.problem} when it was pruned by force` : ''
  return `${plural(records, 'record')}, head ${head.slice(0, 16)}…, ${since}${warning}`
}

export interface PruneOptions extends StoreCommandOptions {
  readonly tenant?: string
  readonly days?: string
  readonly megabytes?: string
  readonly force?: boolean
}

/** Prunes the chains. The exit code is 3 if a chain was changed; then nothing of it is removed without `--force`. */
export const auditPrune = (context: CommandContext, options: PruneOptions): Promise<number> =>
  withStore(context, options, async ({ store }, config) => {
    const { terminal } = context
    const days = numberOf('--days', options.days)
    const megabytes = numberOf('--megabytes', options.megabytes)
    const fromFlags =
      days === undefined && megabytes === undefined
        ? undefined
        : limitsOf({ maxAgeDays: days, maxMegabytes: megabytes })
    const configured = retentionOf(config.audit?.retention)
    if (!fromFlags && !configured)
      throw new CommandError(
        'No limit is given: use --days or --megabytes, or set "audit.retention" in the configuration',
        2,
      )
    const tenants = options.tenant === undefined ? eachAuditTenant(store) : [options.tenant]
    const rows = []
    for await (const tenant of tenants) {
      const limits = fromFlags ?? limitsFor(configured ?? {}, tenant)
      const pruned = await pruneAudit(store, tenant, {
        ...limits,
        secrets: () => secretOf(config, context.env),
        clock,
        writer: crypto.randomUUID(),
        by: context.env['USER'] ?? 'command',
        force: options.force === true,
        stopped: () => context.signal.aborted,
      })
      rows.push({ tenant, ...pruned })
    }
    if (options.json) terminal.out(toJson(rows))
    else
      for (const { tenant, removed, refused } of rows)
        terminal.out(
          refused
            ? `${styled(terminal, 'red', '✗')} ${nameOf(tenant)}: not pruned, ${describeVerdict({ intact: false, ...refused })}. Export it, then use --force.`
            : `${nameOf(tenant)}: ${plural(removed, 'record')} removed`,
        )
    return rows.some(({ refused }) => refused) ? exitCodes.found : exitCodes.ok
  })

/** Prints one record per line, oldest first, for other programs. */
export const auditExport = (context: CommandContext, options: AuditOptions): Promise<number> =>
  withStore(context, options, async ({ store }) => {
    let count = 0
    for await (const { hash, record } of readAllAudit(store, options.tenant)) {
      context.terminal.out(JSON.stringify({ ...record, hash }))
      await context.terminal.drained()
      count++
    }
    if (count === 0) throw new CommandError(`Tenant ${options.tenant} has no records`)
    return exitCodes.ok
  })

export const tenants = (context: CommandContext, options: StoreCommandOptions): Promise<number> =>
  withStore(context, options, async ({ store }) => {
    const { terminal } = context
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
    else if (rows.length === 0) terminal.out('No tenants yet.')
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
