#!/usr/bin/env node
/** The binary. What it is made of is loaded last: on an old Node, which has no SQLite, that fails without a word of help. */

import { requireNode } from 'sluice/main'

requireNode('sluice-fitness')
await import('./binary.ts')
