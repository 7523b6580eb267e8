/** Runs several lookups at a time. */

/** Processes the items, a few at a time, and stops at the first failure. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  let [next, failed] = [0, false]
  async function run(): Promise<void> {
    for (let at = next++; at < items.length && !failed; at = next++)
      try {
        results[at] = await work(items[at] as T)
      } catch (thrown) {
        failed = true
        throw thrown
      }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, run))
  return results
}
