/** The plugin `idempotency`: work under one key runs once. */

import { dayMs } from '../core/idempotency-record.ts'
import type { SlotPlugin } from '../core/plugin.ts'
import { createProcessLease } from '../core/process-lease.ts'
import type { IdempotencyOptions } from '../layers/idempotency.ts'
import { idempotencyLayer } from '../layers/idempotency.ts'
import { createClaimReleaser } from '../layers/release-claim.ts'

/** Runs work under an idempotency key once, and replays its result. Without it a call with a key is refused. */
export const idempotency = (
  options: Pick<IdempotencyOptions, 'keepMs' | 'maxRecord'> = {},
): SlotPlugin<'idempotency'> => ({
  slot: 'idempotency',
  create({ serverStore, clock, logger, newErrorId }) {
    const releaser = createClaimReleaser(serverStore, clock, options.keepMs ?? dayMs)
    const lease = createProcessLease(serverStore, clock)
    return {
      layer: idempotencyLayer(serverStore, { clock, logger, newErrorId, releaser, lease, ...options }),
      async close() {
        await releaser.close()
        await lease.close()
      },
    }
  },
})
