/**
 * Property tests draw the same cases in every run of `npm test`: one that fails there fails for everybody. `npm run soak --
 * fuzz` draws others.
 */

import fc from 'fast-check'

const { SLUICE_FUZZ_SEED: seed = '1' } = process.env
fc.configureGlobal({ seed: Number(seed) })
