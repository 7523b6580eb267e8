/** The options and examples of `sluice approvals`. */

import { Option } from 'commander'
import { type ProgramBuilder, withStoreOptions } from './builder.ts'

export function addApprovals({ program, context, sub, runs, serves }: ProgramBuilder): void {
  const approvals = sub(
    program,
    'approvals',
    'list and decide the calls that need an approval',
    'sluice approvals list',
    'sluice approvals show <id>',
    'sluice approvals approve <id>',
    'sluice approvals watch',
  )
  withStoreOptions(sub(approvals, 'list', 'list tickets, pending ones first', 'sluice approvals list --status pending'))
    .addOption(
      new Option('--status <status>', 'only tickets with this status').choices([
        'pending',
        'approved',
        'denied',
        'expired',
        'running',
        'done',
        'failed',
        'in doubt',
        'void',
      ]),
    )
    .option('--tenant <id>', 'only tickets of this tenant')
    .action(runs(async (options) => (await import('../commands/approvals.ts')).approvalsList(context, options)))
  withStoreOptions(sub(approvals, 'show <id>', 'show exactly what would run', 'sluice approvals show <id>')).action(
    runs(async (id: string, options) => (await import('../commands/approvals.ts')).approvalsShow(context, id, options)),
  )
  for (const [name, approved] of [
    ['approve', true],
    ['deny', false],
  ] as const)
    withStoreOptions(
      sub(
        approvals,
        `${name} <id>`,
        approved ? 'approve the call; it may run once' : 'deny the call',
        `sluice approvals ${name} <id> --note "${approved ? 'Go ahead' : 'Not on a Friday'}"`,
      ),
    )
      .option('--note <text>', 'a note; the caller can read it')
      .option('--as <name>', 'your name, if several people share this account')
      .action(
        runs(async (id: string, options) =>
          (await import('../commands/approvals.ts')).approvalsDecide(context, id, approved, options),
        ),
      )
  withStoreOptions(
    sub(
      approvals,
      'watch',
      'show waiting tickets as they come, and decide them by a key; without a terminal, print each as a line',
      'sluice approvals watch',
    ),
  )
    .option('--as <name>', 'your name, if several people share this account')
    .action(
      serves(async (options) => (await import('../commands/approvals-watch.ts')).approvalsWatch(context, options)),
    )
  withStoreOptions(sub(approvals, 'rules', 'list the approval rules in their order', 'sluice approvals rules')).action(
    runs(async (options) => (await import('../commands/approvals.ts')).approvalsRules(context, options)),
  )
}
