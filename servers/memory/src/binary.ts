/** `sluice-memory`: see `--help`. */

import type { Runtime } from 'sluice'
import { approvals } from 'sluice/approvals'
import { runMain } from 'sluice/main'
import { clearCommand, exportCommand, graphCommand, importCommand } from './commands.ts'
import { open } from './open.ts'
import { description, version } from './package.ts'

// A pipe has one client, and it asks its own user. Over HTTP this binary cannot identify its callers, so it refuses
// calls that need an approval. `sluice serve memory --http` identifies its callers and has a console.
const runtime: Runtime = process.argv.includes('--http') ? {} : { approvals: approvals({ approver: 'client' }) }

await runMain(open, {
  name: 'sluice-memory',
  version,
  about: description,
  commands: { export: exportCommand, import: importCommand, graph: graphCommand, clear: clearCommand },
  runtime,
})
