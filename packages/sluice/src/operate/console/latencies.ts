/** Durations counted in steps that grow, so that a percentile costs no list of them: it is off by a fifth at most. */

export type Latencies = Uint32Array

/** Milliseconds: the upper end of each step. The last step is whatever is longer. */
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

/** In milliseconds; 0 where there is nothing. */
export function percentile(latencies: Latencies, share: number): number {
  let left = share * latencies.reduce((sum, n) => sum + n, 0)
  for (const [at, n] of latencies.entries()) {
    if (n === 0) continue
    if (left <= n) {
      const low = at === 0 ? 0 : (bucketBounds[at - 1] ?? 0)
      const high = bucketBounds[at] ?? low
      return Math.round((low + (high - low) * (left / n)) * 100) / 100
    }
    left -= n
  }
  return 0
}
