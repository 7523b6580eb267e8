#!/usr/bin/env node
import { runMain } from 'sluice/main'
import { exportCommand, graphCommand, importCommand } from './commands.ts'
import { open } from './index.ts'
import { description, version } from './package.ts'

await runMain(open, {
  name: 'sluice-memory',
  version,
  about: description,
  commands: { export: exportCommand, import: importCommand, graph: graphCommand },
})
