/** Random messages in heaps: what they do to each other is part of a test, and a heap shrinks like anything else. */

import fc from 'fast-check'

const heap = 250
const heapsOf = <T>(each: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(each, { minLength: 1, maxLength: 2 * heap, size: 'max' })

/** Serves about so many, and resolves with how many it were. */
export async function fuzz<T>(
  messages: number,
  each: fc.Arbitrary<T>,
  serve: (messages: readonly T[]) => Promise<void>,
): Promise<number> {
  let total = 0
  await fc.assert(
    fc.asyncProperty(heapsOf(each), async (some) => {
      total += some.length
      await serve(some)
    }),
    { numRuns: Math.ceil(messages / heap) },
  )
  return total
}
