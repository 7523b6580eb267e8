/** Random messages in batches: their interactions are part of a test, and a batch shrinks like any other value. */

import fc from 'fast-check'

const batchSize = 250
const batchesOf = <T>(each: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(each, { minLength: 1, maxLength: 2 * batchSize, size: 'max' })

/** Serves about that many messages, and resolves with the actual number. */
export async function fuzzInBatches<T>(
  messages: number,
  each: fc.Arbitrary<T>,
  serve: (messages: readonly T[]) => Promise<void>,
): Promise<number> {
  let total = 0
  await fc.assert(
    fc.asyncProperty(batchesOf(each), async (some) => {
      total += some.length
      await serve(some)
    }),
    { numRuns: Math.ceil(messages / batchSize) },
  )
  return total
}
