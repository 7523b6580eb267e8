#!/usr/bin/env node
/** The binary: see `--help`. */

import { runMain } from 'sluice/main'
import { build } from './build.ts'
import { open } from './open.ts'
import { version } from './version.ts'

await runMain(open, {
  name: 'sluice-knowledge',
  version,
  about: "A folder of Markdown as an MCP server. Without a folder it serves Sluice's own documents.",
  argument: 'folder',
  commands: { build },
})
