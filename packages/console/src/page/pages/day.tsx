/** The last day by the minute, from the store, for all processes. */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { MinuteStats } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { serverNow, useQuery } from '../hooks.ts'
import { Plot } from '../plot.tsx'
import type { Column } from '../table.tsx'
import { Dim, Table } from '../table.tsx'
import { Empty, milliseconds, minuteTime, number, PageHeader, Problem, Select, withAnyOption } from '../ui.tsx'
import { latencyLines, Tile } from './rates.tsx'

/** Chooses between the live page and the day. */
export const SpanTabs = ({ current }: { readonly current: 'now' | 'day' }): JSX.Element => (
  <nav class="tabs" aria-label="Time span">
    <a href="#/live" aria-current={current === 'now' ? 'page' : undefined}>
      Now
    </a>
    <a href="#/live/day" aria-current={current === 'day' ? 'page' : undefined}>
      Last day
    </a>
  </nav>
)

export function DayPage({ servers }: { readonly servers: readonly string[] }): JSX.Element {
  const [server, setServer] = useState('')
  const { data, problem, reload } = useQuery(() => callApi('getHistory', server === '' ? {} : { server }), server)
  return (
    <>
      <PageHeader title="Live">
        <SpanTabs current="day" />
        <Select label="Server" value={server} options={withAnyOption('All servers', servers)} onChoose={setServer} />
        <button type="button" class="button" onClick={reload}>
          Refresh
        </button>
      </PageHeader>
      <Problem text={problem} />
      {data?.minutes.length === 0 && (
        <Empty title="No requests in the last day">Each process writes its traffic once a minute.</Empty>
      )}
      {data && data.minutes.length > 0 && <Day minutes={data.minutes} processes={data.processes} />}
    </>
  )
}

const minuteMs = 60_000
const dayMinutes = 24 * 60

function Day({
  minutes,
  processes,
}: {
  readonly minutes: readonly MinuteStats[]
  readonly processes: number
}): JSX.Element {
  const calls = sum(minutes, 'calls')
  const errors = sum(minutes, 'errors')
  const data = useMemo(() => seriesOf(minutes), [minutes])
  return (
    <>
      <dl class="tiles">
        <Tile name="Requests, last day" value={number(calls)} />
        <Tile name="Errors" value={`${((100 * errors) / calls).toFixed(1)} %`} tone={errors > 0 ? 'bad' : ''} />
        <Tile name="Waited for a person" value={number(sum(minutes, 'waiting'))} />
        <Tile name="Refused by limits" value={number(sum(minutes, 'shed'))} />
        <Tile name="Worst 95th percentile" value={milliseconds(Math.max(...minutes.map(({ p95 = 0 }) => p95)))} />
        <Tile name="Processes" value={number(processes)} />
      </dl>
      <div class="plots">
        <Plot title="Requests per minute" lines={countLines} data={data.counts} unit={String} whole isLong />
        <Plot title="Latency" lines={latencyLines} data={data.latencies} unit={milliseconds} isLong />
      </div>
      <section>
        <h2>By the hour</h2>
        <Table label="By the hour" columns={columns} rows={hoursOf(minutes)} />
      </section>
    </>
  )
}

const countLines = [
  { label: 'requests', colour: '--accent', bars: true },
  { label: 'waiting', colour: '--good', bars: true },
  { label: 'errors', colour: '--bad', bars: true },
]

type Counted = 'calls' | 'errors' | 'shed' | 'waiting'

const sum = (minutes: readonly MinuteStats[], field: Counted): number =>
  minutes.reduce((total, minute) => total + minute[field], 0)

/** One point for every minute of the day, because a plot would otherwise join the ends of a pause. */
function seriesOf(minutes: readonly MinuteStats[]): {
  readonly counts: readonly (readonly (number | null)[])[]
  readonly latencies: readonly (readonly (number | null)[])[]
} {
  const byMinute = new Map(minutes.map((minute) => [minute.at / minuteMs, minute]))
  const now = Math.floor(serverNow() / minuteMs)
  const all = Array.from({ length: dayMinutes }, (_, at) => now - dayMinutes + 1 + at)
  const times = all.map((minute) => minute * 60)
  const count = (field: Counted): number[] => all.map((minute) => byMinute.get(minute)?.[field] ?? 0)
  const latency = (field: 'p50' | 'p95' | 'p99'): (number | null)[] =>
    all.map((minute) => byMinute.get(minute)?.[field] ?? null)
  return {
    counts: [times, count('calls'), count('waiting'), count('errors')],
    latencies: [times, latency('p99'), latency('p95'), latency('p50')],
  }
}

interface Hour {
  readonly id: string
  readonly at: number
  readonly minutes: readonly MinuteStats[]
}

/** Newest first. Hours without requests are left out. */
function hoursOf(minutes: readonly MinuteStats[]): readonly Hour[] {
  const byHour = new Map<number, MinuteStats[]>()
  for (const minute of minutes) {
    const hour = Math.floor(minute.at / 3_600_000)
    byHour.set(hour, [...(byHour.get(hour) ?? []), minute])
  }
  return [...byHour].map(([hour, all]) => ({ id: String(hour), at: hour * 3_600_000, minutes: all })).reverse()
}

const counted = (name: string, field: Counted, tone = ''): Column<Hour> => ({
  name,
  right: true,
  tone: ({ minutes }) => (sum(minutes, field) > 0 ? tone : ''),
  show: ({ minutes }) => number(sum(minutes, field)),
})
const columns: readonly Column<Hour>[] = [
  { name: 'Hour', show: ({ at }) => minuteTime(at) },
  counted('Requests', 'calls'),
  counted('Errors', 'errors', 'bad-text'),
  counted('Waited for a person', 'waiting'),
  counted('Refused by limits', 'shed', 'warn-text'),
  {
    name: 'Slowest minute, 95th percentile',
    right: true,
    show: ({ minutes }) =>
      minutes.length === 0 ? <Dim>–</Dim> : milliseconds(Math.max(...minutes.map(({ p95 = 0 }) => p95))),
  },
]
