/** `sluice-memory`: see `--help`. */

import { createApprovals } from 'sluice/approvals'
import { runMain } from 'sluice/main'
import { clearCommand, exportCommand, graphCommand, importCommand } from './commands.ts'
import { open } from './open.ts'
import { description, version } from './package.ts'

// A pipe has one client, which asks its own user. Over HTTP the callers are strangers here, so a call that needs an
// approval is refused; `sluice serve memory --http` knows its callers and has a console.
const isStdio = !process.argv.includes('--http')

await runMain(open, {
  name: 'sluice-memory',
  version,
  about: description,
  commands: { export: exportCommand, import: importCommand, graph: graphCommand, clear: clearCommand },
  use: (services) => [isStdio && createApprovals({ ...services, approver: 'client' })],
})
