/** Live traffic: rates, latencies and the last requests. */

import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { CountReading, LiveSnapshot, RecentRequest, RunningTask, SecondStats } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { onConnected, openEventStream, subscribe } from '../event-stream.ts'
import { useQuery } from '../hooks.ts'
import { PageHeader, Problem, Select, withAnyOption } from '../ui.tsx'
import { SpanTabs } from './day.tsx'
import { Counts, Rates } from './rates.tsx'
import { Requests } from './requests.tsx'
import { Running } from './running.tsx'

interface Filter {
  readonly server: string
  readonly tenant: string
  readonly tool: string
  readonly outcome: '' | 'ok' | 'failed' | 'shed'
}

const maxRows = 40
const maxSeconds = 300

export function LivePage({ servers }: { readonly servers: readonly string[] }): JSX.Element {
  const [filter, setFilter] = useState<Filter>({ server: '', tenant: '', tool: '', outcome: '' })
  const [paused, setPaused] = useState(false)
  const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
  const key = new URLSearchParams(query).toString()
  const { data, problem, reload } = useQuery(() => callApi('getLive', query), key)
  const live = useLive(data, reload, key, paused)
  const names = useNames(live.requests)
  const choose =
    (field: keyof Filter) =>
    (value: string): void =>
      setFilter({ ...filter, [field]: value })

  return (
    <>
      <PageHeader title="Live">
        <SpanTabs current="now" />
        <Select
          label="Server"
          value={filter.server}
          options={withAnyOption('All servers', servers)}
          onChoose={choose('server')}
        />
        <Select
          label="Tenant"
          value={filter.tenant}
          options={withAnyOption('All tenants', withSelected(names.tenants, filter.tenant))}
          onChoose={choose('tenant')}
        />
        <Select
          label="Tool"
          value={filter.tool}
          options={withAnyOption('All tools', withSelected(names.tools, filter.tool))}
          onChoose={choose('tool')}
        />
        <Select label="Outcome" value={filter.outcome} options={outcomes} onChoose={choose('outcome')} />
        <button type="button" class="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? 'Resume' : 'Pause'}
        </button>
      </PageHeader>
      <Problem text={problem} />
      {useMemo(
        () => (
          <Rates seconds={live.seconds} />
        ),
        [live.seconds],
      )}
      <Counts counts={live.counts} />
      <Running running={live.running} />
      <Requests requests={live.requests} missed={live.missed} />
    </>
  )
}

const outcomes = [
  ['', 'All outcomes'],
  ['ok', 'Succeeded'],
  ['failed', 'Failed'],
  ['shed', 'Refused by limits'],
] as const

const withSelected = (names: readonly string[], selected: string): readonly string[] =>
  selected === '' || names.includes(selected) ? names : [selected, ...names]

interface LiveView {
  /** Newest first. */
  readonly requests: readonly RecentRequest[]
  readonly seconds: readonly SecondStats[]
  readonly counts: readonly CountReading[]
  readonly running: readonly RunningTask[]
  readonly missed: number
}
const emptyView: LiveView = { requests: [], seconds: [], counts: [], running: [], missed: 0 }

/** Joins the loaded snapshot with the events that follow it. */
function useLive(data: LiveSnapshot | undefined, reload: () => void, key: string, paused: boolean): LiveView {
  const [shown, setShown] = useState(emptyView)
  useEffect(() => {
    if (!data) return
    // The stream may have been faster, so its newer requests stay. Those under another filter are older than this.
    setShown(({ requests }) => {
      const newer = requests.filter(({ seq }) => seq > data.seq)
      // A request that is already shown stays the same object, so that its row is not rendered again.
      const known = new Map(requests.map((each) => [each.seq, each]))
      const older = data.requests.slice(-maxRows).map((each) => known.get(each.seq) ?? each)
      return { ...data, requests: [...newer, ...older.reverse()].slice(0, maxRows), missed: 0 }
    })
  }, [data])
  useEffect(() => {
    openEventStream(`live=1${key === '' ? '' : `&${key}`}`)
    return () => openEventStream('')
  }, [key])
  useEffect(() => {
    // On resume, load the requests of the meantime.
    if (paused) return reload
    const unsubscribers = [
      // Loads again once the stream is open. Otherwise requests before that would be in neither.
      onConnected((isConnected) => isConnected && reload()),
      subscribe('requests', ({ requests, missed }) =>
        setShown((before) => {
          const last = before.requests[0]?.seq ?? 0
          const fresh = requests.filter(({ seq }) => seq > last).reverse()
          return { ...before, missed, requests: [...fresh, ...before.requests].slice(0, maxRows) }
        }),
      ),
      subscribe('second', ({ second, counts, running }) =>
        setShown((before) => {
          const last = before.seconds.at(-1)?.at ?? 0
          const seconds = second.at > last ? [...before.seconds, second].slice(-maxSeconds) : before.seconds
          return { ...before, seconds, counts, running }
        }),
      ),
    ]
    return () => {
      for (const unsubscribe of unsubscribers) unsubscribe()
    }
  }, [reload, paused])
  return shown
}

/** Collects the names for the filters from the requests. They only grow, so that an open list does not shrink. */
function useNames(requests: readonly RecentRequest[]): {
  readonly tenants: readonly string[]
  readonly tools: readonly string[]
} {
  const [seen] = useState(() => ({ tenants: new Set<string>(), tools: new Set<string>() }))
  for (const { tenant, tool } of requests) {
    if (tenant !== '' && seen.tenants.size < 200) seen.tenants.add(tenant)
    if (tool !== undefined && seen.tools.size < 500) seen.tools.add(tool)
  }
  const size = seen.tenants.size + seen.tools.size
  // The sets only grow, so their size is enough to detect a change.
  return useMemo(() => ({ tenants: [...seen.tenants].sort(), tools: [...seen.tools].sort() }), [size])
}
