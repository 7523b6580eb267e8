/** A histogram of durations with growing buckets. A percentile needs no list of samples and is off by at most a fifth. */

export type Latencies = Uint32Array

/** The upper bound of each bucket in milliseconds. The last bucket holds all longer durations. */
const bucketBounds: readonly number[] = computeBounds()

function computeBounds(): readonly number[] {
  const found = [0.5, 1]
  while ((found.at(-1) ?? 0) < 120_000) found.push(Math.ceil((found.at(-1) ?? 0) * 1.2))
  return found
}

export const newLatencies = (): Latencies => new Uint32Array(bucketBounds.length + 1)

export function recordLatency(latencies: Latencies, ms: number): void {
  let low = 0
  let high = bucketBounds.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((bucketBounds[middle] ?? 0) < ms) low = middle + 1
    else high = middle
  }
  latencies[low] = (latencies[low] ?? 0) + 1
}

/** Returns a percentile in milliseconds; 0 if there are no samples. */
export function percentile(latencies: Latencies, share: number): number {
  let remaining = share * latencies.reduce((sum, n) => sum + n, 0)
  for (const [at, n] of latencies.entries()) {
    if (n === 0) continue
    if (remaining <= n) {
      const low = at === 0 ? 0 : (bucketBounds[at - 1] ?? 0)
      const high = bucketBounds[at] ?? low
      return Math.round((low + (high - low) * (remaining / n)) * 100) / 100
    }
    remaining -= n
  }
  return 0
}
