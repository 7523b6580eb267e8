/** Two tenants through process upstreams of every scope, in both eras: a million answers and no byte of another caller. */

import { hammerScopes } from '../../gateway/processes/isolation-load.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, progress }) => {
  const { answers, marks, descriptors, problems } = await hammerScopes(times(1_000_000), progress)
  const [before = 0, after = 0] = descriptors
  const counted = { answers, marks, 'descriptors before': before, 'descriptors after': after }
  return { counted, lost: problems }
}
