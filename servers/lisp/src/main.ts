#!/usr/bin/env node
import { createApprovals } from 'sluice/approvals'
import { runMain } from 'sluice/main'
import { open } from './open.ts'
import { description, version } from './package.ts'

await runMain(open, {
  name: 'sluice-lisp',
  version,
  about: description,
  // A pipe has one client, which asks its own user. Over HTTP people decide in a console.
  use: (services) => [createApprovals({ ...services, approver: 'client' })],
  httpAlternative: 'npx @sluice/cli serve lisp --http',
})
