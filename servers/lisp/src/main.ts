#!/usr/bin/env node
import { approvals } from 'sluice/approvals'
import { runMain } from 'sluice/main'
import { open } from './open.ts'
import { description, version } from './package.ts'

// A pipe has one client, and it asks its own user. Over HTTP, people decide in a console.
const overHttp = 'npx @sluice/cli serve lisp --http'
const runtime = { approvals: approvals({ approver: 'client' }) }
await runMain(open, { name: 'sluice-lisp', version, about: description, runtime, httpAlternative: overHttp })
