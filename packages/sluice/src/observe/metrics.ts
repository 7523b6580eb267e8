/**
 * Counts and durations kept in memory, for `/metrics`. The labels come from finite sets: methods, names of definitions
 * (other names are `unknown`) and outcomes. So a client cannot make the server keep, or Prometheus store, a series for
 * every name it sends.
 */

import { getOrCreate } from '../core/get-or-create.ts'
import type { LogLine } from '../core/log.ts'
import type { EndedCall, Observer } from '../core/observer.ts'
import type { Gauge } from '../core/plugin.ts'
import { tenantOf } from './call-identity.ts'
import type { Labels, MetricFamily, MetricSample } from './prometheus.ts'
import { toPrometheus } from './prometheus.ts'

/** Which labels the metrics have. */
export interface MetricsOptions {
  /**
   * How many tenants get a label; the rest are `other`. None by default, because labels tell readers of the metrics who
   * the customers are, and each tenant multiplies the series.
   */
  readonly tenants?: number
}

export interface Metrics {
  readonly observer: Required<Pick<Observer, 'ended' | 'rejected'>>
  /** In the text format of Prometheus. */
  text(): string
}

/** Seconds, as the MCP conventions of OpenTelemetry have them; the first three are ours, since most calls are that fast. */
const bounds: readonly number[] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** One method, target and tenant. */
interface Series {
  readonly outcomes: Map<string, number>
  /** Not cumulative: a call adds to one of them. The last is what is longer than all bounds. */
  readonly buckets: number[]
  sumMs: number
}

/**
 * `counts` is what is counted elsewhere, read when the metrics are. `server` labels every series, so that several
 * servers can share a page.
 */
export function createMetrics(
  { tenants = 0 }: MetricsOptions = {},
  counts: readonly Gauge[] = [],
  server?: string,
): Metrics {
  const common: Labels = server === undefined ? [] : [['server', server]]
  const rows = new Map<string, Map<string, Map<string, Series>>>()
  const early = new Map<string, number>()
  const labelled = new Set<string>()

  function labelOf({ call }: EndedCall): string {
    if (tenants === 0) return ''
    const tenant = tenantOf(call)
    if (labelled.has(tenant)) return tenant
    if (labelled.size >= tenants) return 'other'
    labelled.add(tenant)
    return tenant
  }
  /** Nested maps of strings that exist already: one joined key per call would cost more than all the counting. */
  function rowOf(event: EndedCall): Series {
    const { method, target } = event.call
    const targets = getOrCreate(rows, method, () => new Map())
    const byTenant = getOrCreate(targets, target.kind === 'method' ? '' : target.name, () => new Map())
    return getOrCreate(byTenant, labelOf(event), newSeries)
  }

  return {
    observer: { ended, rejected },
    text,
  }

  function ended(event: EndedCall): void {
    const row = rowOf(event)
    const { outcomes, buckets } = row
    row.sumMs += event.durationMs
    outcomes.set(event.outcome, (outcomes.get(event.outcome) ?? 0) + 1)
    const at = bucketOf(event.durationMs / 1000)
    buckets[at] = (buckets[at] ?? 0) + 1
  }
  function rejected({ reason }: LogLine): void {
    const label = String(reason)
    early.set(label, (early.get(label) ?? 0) + 1)
  }
  function text(): string {
    const all = [...eachSeries(rows)]
    return toPrometheus(
      [
        {
          name: 'sluice_requests_total',
          help: 'Requests answered, by how they ended.',
          type: 'counter',
          samples: all.flatMap(([labels, { outcomes }]) =>
            sorted(outcomes).map(([outcome, value]) => ({
              labels: [...labels, ['outcome', outcome] as const],
              value,
            })),
          ),
        },
        {
          name: 'sluice_request_duration_seconds',
          help: 'From the first layer to the answer.',
          type: 'histogram',
          samples: all.flatMap(([labels, row]) => histogram(labels, row)),
        },
        {
          name: 'sluice_refused_total',
          help: 'Messages refused before they became a request.',
          type: 'counter',
          samples: sorted(early).map(([reason, value]) => ({ labels: [['reason', reason]], value })),
        },
        ...counts.map(
          ({ name, help, type, read }): MetricFamily => ({
            name,
            help,
            type,
            samples: [{ labels: [], value: read() }],
          }),
        ),
      ],
      common,
    )
  }
}

const newSeries = (): Series => ({
  outcomes: new Map(),
  buckets: new Array<number>(bounds.length + 1).fill(0),
  sumMs: 0,
})

function bucketOf(seconds: number): number {
  let at = 0
  while (at < bounds.length && seconds > (bounds[at] as number)) at++
  return at
}

const sorted = <V>(map: ReadonlyMap<string, V>): [string, V][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

function* eachSeries(
  rows: ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, Series>>>,
): Iterable<[Labels, Series]> {
  for (const [method, targets] of sorted(rows))
    for (const [target, byTenant] of sorted(targets))
      for (const [tenant, row] of sorted(byTenant)) {
        const labels: [string, string][] = [['method', method]]
        if (target !== '') labels.push(['target', target])
        if (tenant !== '') labels.push(['tenant', tenant])
        yield [labels, row]
      }
}

function histogram(labels: Labels, { buckets, sumMs }: Series): MetricSample[] {
  let count = 0
  const samples = buckets.map((inside, at): MetricSample => {
    count += inside
    const le = at === bounds.length ? '+Inf' : String(bounds[at])
    return { suffix: '_bucket', labels: [...labels, ['le', le]], value: count }
  })
  return [...samples, { suffix: '_sum', labels, value: sumMs / 1000 }, { suffix: '_count', labels, value: count }]
}
