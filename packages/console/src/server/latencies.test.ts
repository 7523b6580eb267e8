import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newLatencies, percentile, recordLatency } from './latencies.ts'

test('a percentile is off by at most a fifth or a millisecond', () => {
  const durations = fc.array(fc.double({ min: 0, max: 100_000, noNaN: true }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99, 1), (all, share) => {
      const latencies = newLatencies()
      for (const ms of all) recordLatency(latencies, ms)
      const exact = [...all].sort((a, b) => a - b)[Math.ceil(share * all.length) - 1] ?? 0
      const estimate = percentile(latencies, share)
      expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(Math.max(1, exact * 0.2) + 0.01)
    }),
    { seed: 5, numRuns: 500 },
  )
})

test('a percentile is 0 without samples, and at least two minutes for longer durations', () => {
  const latencies = newLatencies()
  expect(percentile(latencies, 0.99)).toBe(0)
  recordLatency(latencies, 1e9)
  expect(percentile(latencies, 0.99)).toBeGreaterThanOrEqual(120_000)
})
