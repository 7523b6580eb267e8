/** Rates and latencies as numbers and plots, and the gauges of the servers. */

import type { JSX } from 'preact'
import type { CountReading, SecondStats } from '../../api/index.ts'
import { Plot } from '../plot.tsx'
import { milliseconds, number } from '../ui.tsx'

export const Rates = ({ seconds }: { readonly seconds: readonly SecondStats[] }): JSX.Element => (
  <>
    <Tiles seconds={seconds} />
    <Plots seconds={seconds} />
  </>
)

function Tiles({ seconds }: { readonly seconds: readonly SecondStats[] }): JSX.Element {
  const recent = seconds.slice(-10)
  const minute = seconds.slice(-60)
  const perSecond = sum(recent, 'calls') / Math.max(1, recent.length)
  const last = seconds.findLast(({ p50 }) => p50 !== undefined)
  const errors = sum(minute, 'errors')
  const all = sum(minute, 'calls')
  return (
    <dl class="tiles">
      {/* Below one a second the rate says little, so the requests are counted. */}
      {perSecond < 1 ? (
        <Tile name="Requests, last minute" value={number(all)} />
      ) : (
        <Tile name="Requests per second" value={number(Math.round(perSecond * 10) / 10)} />
      )}
      <Tile
        name="Errors, last minute"
        value={all === 0 ? '0 %' : `${((100 * errors) / all).toFixed(1)} %`}
        tone={errors > 0 ? 'bad' : ''}
      />
      <Tile name="Median" value={milliseconds(last?.p50)} />
      <Tile name="95th percentile" value={milliseconds(last?.p95)} />
      <Tile name="99th percentile" value={milliseconds(last?.p99)} />
      <Tile
        name="Refused, last minute"
        value={number(sum(minute, 'shed'))}
        tone={sum(minute, 'shed') > 0 ? 'warn' : ''}
      />
    </dl>
  )
}

export const Tile = ({
  name,
  value,
  tone = '',
}: {
  readonly name: string
  readonly value: string
  readonly tone?: string
}): JSX.Element => (
  <div class={`tile ${tone}`}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

const sum = (seconds: readonly SecondStats[], field: 'calls' | 'errors' | 'shed'): number =>
  seconds.reduce((total, second) => total + second[field], 0)

/** The gauges of the servers: queues, shed and dropped messages, stragglers. */
export const Counts = ({ counts }: { readonly counts: readonly CountReading[] }): JSX.Element | null =>
  counts.length === 0 ? null : (
    <dl class="counts">
      {summed(counts).map(({ name, help, value }) => (
        <div key={name}>
          <dt>{help.replace(/\.$/, '')}</dt>
          <dd class={value > 0 ? 'some' : ''}>{number(value)}</dd>
        </div>
      ))}
    </dl>
  )

/** Sums each gauge over all servers. */
function summed(counts: readonly CountReading[]): readonly CountReading[] {
  const byName = new Map<string, CountReading>()
  for (const count of counts) {
    const before = byName.get(count.name)
    byName.set(count.name, { ...count, value: count.value + (before?.value ?? 0) })
  }
  return [...byName.values()]
}

const rateLines = [
  { label: 'requests', colour: '--accent', bars: true },
  { label: 'errors', colour: '--bad', bars: true },
  { label: 'refused', colour: '--warn', bars: true },
]
export const latencyLines = [
  { label: 'p99', colour: '--bad' },
  { label: 'p95', colour: '--warn' },
  { label: 'p50', colour: '--accent' },
]

function Plots({ seconds }: { readonly seconds: readonly SecondStats[] }): JSX.Element {
  const at = seconds.map((second) => second.at / 1000)
  const of = (field: 'p50' | 'p95' | 'p99'): (number | null)[] => seconds.map((second) => second[field] ?? null)
  const counts = (field: 'calls' | 'errors' | 'shed'): number[] => seconds.map((second) => second[field])
  return (
    <div class="plots">
      <Plot
        title="Requests per second"
        lines={rateLines}
        data={[at, counts('calls'), counts('errors'), counts('shed')]}
        unit={String}
        whole
      />
      <Plot title="Latency" lines={latencyLines} data={[at, of('p99'), of('p95'), of('p50')]} unit={milliseconds} />
    </div>
  )
}
