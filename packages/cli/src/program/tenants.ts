/** The options and examples of `sluice tenants`. */

import { type ProgramBuilder, withStoreOptions } from './builder.ts'

export function addTenants({ program, context, sub, runs }: ProgramBuilder): void {
  withStoreOptions(sub(program, 'tenants', 'list tenants with their last call', 'sluice tenants --json')).action(
    runs(async (options) => (await import('../commands/audit.ts')).tenants(context, options)),
  )
}
