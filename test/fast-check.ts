/**
 * Replaces `fast-check` in tests (`vitest.config.ts`): property tests draw the same cases in every run of `npm test`,
 * so that a failure is reproducible everywhere. `npm run soak -- fuzz` draws others.
 */

import { createRequire } from 'node:module'

// The bare name would resolve to this file.
const fc: typeof import('fast-check').default = createRequire(import.meta.url)('fast-check').default
const { SLUICE_FUZZ_SEED: seed = '1' } = process.env
fc.configureGlobal({ seed: Number(seed) })

export default fc
