/** Two tenants on every way in, with the same ids, keys and texts: a million answers and no byte of the other. */

import { hammer } from '../../hostile/isolation-hammer.ts'
import { createWorld } from '../../hostile/isolation-world.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, say }) => {
  const { lost, ...counted } = await hammer(await createWorld(), times(1_000_000), say)
  return { counted, lost }
}
