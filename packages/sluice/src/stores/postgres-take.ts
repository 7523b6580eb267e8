/**
 * Takes from buckets that come together are one statement. Those from the same bucket are one change of its row: the calls
 * of a busy caller would otherwise wait for each other's commits.
 */

import type { Bucket } from '../core/store.ts'
import { createBatcher } from './postgres-batch.ts'
import type { Parameter, Row } from './postgres-connection.ts'
import type { Sweeper } from './postgres-sweep.ts'

interface TakeRequest {
  readonly name: string
  readonly bucket: Bucket
}
/** Requests to one bucket, of one size and rate. */
interface Group extends TakeRequest {
  count: number
}

/** `run` returns for each group how many it was granted, and how long the others have to wait. */
export function createTaker(
  run: (values: readonly Parameter[]) => Promise<readonly Row[]>,
  sweeper: Sweeper,
): (name: string, bucket: Bucket) => Promise<number> {
  const take = createBatcher<TakeRequest, number>({
    // Two are enough: more would only wait for each other's rows.
    inFlight: 2,
    sizeOf: ({ name }) => name.length,
    async send(requests) {
      const groups = toGroups(requests)
      const rows = await run([
        groups.map(({ name }) => name),
        groups.map(({ bucket }) => bucket.burst),
        groups.map(({ bucket }) => bucket.perSecond),
        groups.map(({ count }) => count),
      ])
      sweeper.took(requests.length)
      const grants = new Map(groups.map((group, index) => [keyOf(group), toGrant(rows[index])]))
      // The first ones get what was granted.
      return requests.map((request) => {
        const grant = grants.get(keyOf(request))
        return grant && grant.granted-- > 0 ? 0 : (grant?.waitMs ?? Number.NaN)
      })
    },
  })
  return (name, bucket) => take({ name, bucket })
}

const toGrant = (row: Row | undefined): { granted: number; readonly waitMs: number } => ({
  granted: Number(row?.[0]),
  waitMs: Number(row?.[1]),
})

/** Sorted: transactions that lock rows in the same order do not wait for each other in a circle. */
function toGroups(requests: readonly TakeRequest[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const request of requests) {
    const key = keyOf(request)
    const group = groups.get(key)
    if (group) group.count++
    else groups.set(key, { ...request, count: 1 })
  }
  return [...groups.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
const keyOf = ({ name, bucket: { burst, perSecond } }: TakeRequest): string => `${burst} ${perSecond} ${name}`
