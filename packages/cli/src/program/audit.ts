/** The options and examples of `sluice audit`. */

import type { Command } from 'commander'
import { type ProgramBuilder, withStoreOptions } from './builder.ts'

export function addAudit({ program, context, sub, runs }: ProgramBuilder): void {
  const audit = sub(
    program,
    'audit',
    'search, verify, export and prune the audit log',
    'sluice audit search --tenant acme',
    'sluice audit verify',
  )
  const ofTenant = (command: Command): Command =>
    withStoreOptions(command).requiredOption('--tenant <id>', 'the tenant; sluice tenants lists them')
  withStoreOptions(
    sub(
      audit,
      'search [text]',
      'search records, newest first',
      'sluice audit search transfer',
      'sluice audit search transfer --tenant acme --limit 20',
    ),
  )
    .option('--tenant <id>', 'only this tenant')
    .option('--limit <n>', 'the maximum number of records', '50')
    .action(
      runs(async (text: string | undefined, options) =>
        (await import('../commands/audit.ts')).auditSearch(context, text, options),
      ),
    )
  withStoreOptions(
    sub(audit, 'verify', 'verify the hash chain; exit code 3 if a record was changed', 'sluice audit verify'),
  )
    .option('--tenant <id>', 'only this tenant')
    .action(runs(async (options) => (await import('../commands/audit.ts')).auditVerify(context, options)))
  ofTenant(
    sub(audit, 'export', 'print one record per line, oldest first', 'sluice audit export --tenant acme > audit.ndjson'),
  ).action(runs(async (options) => (await import('../commands/audit.ts')).auditExport(context, options)))
  withStoreOptions(
    sub(
      audit,
      'prune',
      'remove the oldest records and sign a checkpoint; exit code 3 if a record was changed',
      'sluice audit prune --tenant acme --days 90',
      'sluice audit prune',
    ),
  )
    .option('--tenant <id>', 'only this tenant')
    .option('--days <n>', 'the days to keep (default: audit.retention)')
    .option('--megabytes <n>', 'the megabytes to keep (default: audit.retention)')
    .option('--force', 'prune changed records too; every later verify reports it')
    .action(runs(async (options) => (await import('../commands/audit.ts')).auditPrune(context, options)))
}
