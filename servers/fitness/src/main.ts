#!/usr/bin/env node
/**
 * The binary. It loads everything else last, because on an old Node without SQLite that fails without a helpful
 * message.
 */

import { requireNode } from 'sluice/main'

requireNode('sluice-fitness')
await import('./binary.ts')
