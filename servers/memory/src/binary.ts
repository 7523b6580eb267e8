/** `sluice-memory`: see `--help`. */

import type { Runtime } from 'sluice'
import { approvals } from 'sluice/approvals'
import { runMain } from 'sluice/main'
import { clearCommand, exportCommand, graphCommand, importCommand } from './commands.ts'
import { open } from './open.ts'
import { description, version } from './package.ts'

// On a pipe there is one client, and it asks its own human. Over HTTP callers are strangers here, so what needs an
// approval is refused; `sluice serve memory --http` knows its callers and has a console.
const runtime: Runtime = process.argv.includes('--http') ? {} : { approvals: approvals({ approver: 'client' }) }

await runMain(open, {
  name: 'sluice-memory',
  version,
  about: description,
  commands: { export: exportCommand, import: importCommand, graph: graphCommand, clear: clearCommand },
  runtime,
})
