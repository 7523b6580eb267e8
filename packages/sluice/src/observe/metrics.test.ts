import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EndedCall } from '../core/observer.ts'
import type { Target } from '../core/target.ts'
import { aCall } from '../testing/call.ts'
import { createMetrics } from './metrics.ts'
import type { MetricFamily } from './prometheus.ts'
import { toPrometheus } from './prometheus.ts'

const target = (name: string, kind: Target['kind'] = 'tool'): Target => ({ ...aCall().target, name, kind })
const anEvent = (overrides: Partial<EndedCall> = {}): EndedCall => ({
  ...{
    call: aCall(),
    outcome: 'complete',
    failed: false,
    receivedAt: 0,
    durationMs: 4,
    thrown: undefined,
    ...overrides,
  },
})
const ofTenant = (tenant: string): EndedCall => anEvent({ call: aCall({ facts: { tenant } }) })

/**
 * Parses the text as a scraper does: name and labels to value. Written from the format's description, independent of
 * our writer.
 */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, name = '', labels = '', value = ''] =
      /^([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (\S+)$/.exec(line) ?? expect.unreachable(line)
    const read = [...labels.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, quoted = '']) => [
      key,
      quoted.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)),
    ])
    const key = `${name} ${JSON.stringify(read)}`
    expect(samples.has(key), key).toBe(false)
    samples.set(key, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value))
  }
  return samples
}

test('calls are counted by method, target and outcome', () => {
  const metrics = createMetrics()
  for (const outcome of ['complete', 'complete', 'rateLimited'] as const) metrics.observer.ended(anEvent({ outcome }))
  const samples = parse(metrics.text())
  const at = (outcome: string): string =>
    `sluice_requests_total [["method","tools/call"],["target","a-tool"],["outcome","${outcome}"]]`
  expect(samples.get(at('complete'))).toBe(2)
  expect(samples.get(at('rateLimited'))).toBe(1)
})

test('durations are counted in cumulative buckets, and the last contains all', () => {
  const metrics = createMetrics()
  const call = aCall({ method: 'ping', target: target('ping', 'method') })
  for (const durationMs of [0, 10, 11, 999_999]) metrics.observer.ended(anEvent({ call, durationMs }))
  const samples = parse(metrics.text())
  const bucket = (le: string): unknown =>
    samples.get(`sluice_request_duration_seconds_bucket [["method","ping"],["le","${le}"]]`)
  expect(['0.001', '0.01', '0.02', '300', '+Inf'].map(bucket)).toEqual([1, 2, 3, 3, 4])
  expect(samples.get('sluice_request_duration_seconds_count [["method","ping"]]')).toBe(4)
  expect(samples.get('sluice_request_duration_seconds_sum [["method","ping"]]')).toBeCloseTo(1000.02, 6)
})

test('the text does not depend on the order of the calls', () => {
  const names = ['b', 'a', 'c']
  const read = (order: readonly string[]): string => {
    const metrics = createMetrics()
    for (const name of order) metrics.observer.ended(anEvent({ call: aCall({ target: target(name) }) }))
    return metrics.text()
  }
  expect(read(names)).toBe(read([...names].reverse()))
})

test('tenants are not a label by default, and their number is limited', () => {
  const silent = createMetrics()
  silent.observer.ended(ofTenant('acme'))
  expect(silent.text()).not.toContain('acme')
  const metrics = createMetrics({ tenants: 2 })
  for (const tenant of ['acme', 'beta', 'gamma', 'delta', 'acme']) metrics.observer.ended(ofTenant(tenant))
  const counts = [...parse(metrics.text())].filter(([name]) => name.startsWith('sluice_requests_total'))
  expect(counts.map(([name, value]) => [/"tenant","(\w+)"/.exec(name)?.[1], value])).toEqual([
    ['acme', 2],
    ['beta', 1],
    ['other', 2],
  ])
})

test('refusals before a call exists, and gauges of other components, are in the text', () => {
  const lost = { name: 'sluice_audit_dropped_total', help: 'Records lost.', type: 'counter', read: () => 7 } as const
  const metrics = createMetrics({}, [lost])
  metrics.observer.rejected({ event: 'refused', reason: 'parseError' })
  const samples = parse(metrics.text())
  expect(samples.get('sluice_refused_total [["reason","parseError"]]')).toBe(1)
  expect(samples.get('sluice_audit_dropped_total []')).toBe(7)
  expect(metrics.text()).toContain(
    '# HELP sluice_audit_dropped_total Records lost.\n# TYPE sluice_audit_dropped_total counter\n',
  )
})

test('any label value can be read back from the text, and none becomes a separate line', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1 }), (values) => {
      const samples = values.map((value, at) => ({ labels: [['a', value]] as const, value: at }))
      const family: MetricFamily = { name: 'x', help: 'back\\slash\nand line', type: 'gauge', samples }
      const text = toPrometheus([family])
      expect(text.split('\n')).toHaveLength(values.length + 3)
      expect([...parse(text)]).toEqual(values.map((value, at) => [`x ${JSON.stringify([['a', value]])}`, at]))
    }),
  )
})
