#!/usr/bin/env node
import { runMain } from 'sluice/main'
import { open } from './index.ts'
import { description, version } from './package.ts'

await runMain(open, { name: 'sluice-lisp', version, about: description })
