/** What passes, as it passes. */

import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Count, Live, Request, Second } from '../../../sluice/src/operate/console/api.ts'
import { ask } from '../client.ts'
import { hear, onConnected, openFeed } from '../feed.ts'
import { useAsked } from '../hooks.ts'
import { Plot } from '../plot.tsx'
import {
  anyOf,
  Chip,
  clockTime,
  Empty,
  Head,
  milliseconds,
  number,
  Problem,
  Select,
  TableBox,
  Visible,
} from '../ui.tsx'

interface Filter {
  readonly server: string
  readonly tenant: string
  readonly tool: string
  readonly outcome: '' | 'ok' | 'failed' | 'shed'
}

const rows = 60
const minutes = 300

export function LivePage({ servers }: { readonly servers: readonly string[] }): JSX.Element {
  const [filter, setFilter] = useState<Filter>({ server: '', tenant: '', tool: '', outcome: '' })
  const [paused, setPaused] = useState(false)
  const query = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
  const key = new URLSearchParams(query).toString()
  const { data, problem, again } = useAsked(() => ask('getLive', query), key)
  const live = useLive(data, again, key, paused)
  const names = useNames(live.requests)
  const choose =
    (field: keyof Filter) =>
    (value: string): void =>
      setFilter({ ...filter, [field]: value })

  return (
    <>
      <Head title="Live">
        <Select
          label="Server"
          value={filter.server}
          options={anyOf('All servers', servers)}
          onChoose={choose('server')}
        />
        <Select
          label="Tenant"
          value={filter.tenant}
          options={anyOf('All tenants', withOwn(names.tenants, filter.tenant))}
          onChoose={choose('tenant')}
        />
        <Select
          label="Tool"
          value={filter.tool}
          options={anyOf('All tools', withOwn(names.tools, filter.tool))}
          onChoose={choose('tool')}
        />
        <Select label="Outcome" value={filter.outcome} options={outcomes} onChoose={choose('outcome')} />
        <button type="button" class="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      </Head>
      <Problem text={problem} />
      {useMemo(
        () => (
          <>
            <Tiles seconds={live.seconds} />
            <Plots seconds={live.seconds} />
          </>
        ),
        [live.seconds],
      )}
      <Counts counts={live.counts} />
      <Requests requests={live.requests} missed={live.missed} />
    </>
  )
}

const outcomes = [
  ['', 'All outcomes'],
  ['ok', 'Fine'],
  ['failed', 'Failed'],
  ['shed', 'Refused by limits'],
] as const

const withOwn = (names: readonly string[], own: string): readonly string[] =>
  own === '' || names.includes(own) ? names : [own, ...names]

interface Shown {
  /** Newest first. */
  readonly requests: readonly Request[]
  readonly seconds: readonly Second[]
  readonly counts: readonly Count[]
  readonly missed: number
}
const nothing: Shown = { requests: [], seconds: [], counts: [], missed: 0 }

/** What was asked for, and what the stream brings after it. */
function useLive(data: Live | undefined, again: () => void, key: string, paused: boolean): Shown {
  const [shown, setShown] = useState(nothing)
  useEffect(() => {
    if (!data) return
    // The stream may have been quicker. What it brought under another filter is older than this.
    setShown(({ requests }) => {
      const newer = requests.filter(({ seq }) => seq > data.seq)
      return { ...data, requests: [...newer, ...data.requests.toReversed()].slice(0, rows), missed: 0 }
    })
  }, [data])
  useEffect(() => {
    openFeed(`live=1${key === '' ? '' : `&${key}`}`)
    return () => openFeed('')
  }, [key])
  useEffect(() => {
    // When it goes on: what passed meanwhile.
    if (paused) return again
    const leave = [
      // Asked again once the stream is open, or what passes before that is in neither.
      onConnected((is) => is && again()),
      hear('requests', ({ requests, missed }) =>
        setShown((before) => {
          const last = before.requests[0]?.seq ?? 0
          const fresh = requests.filter(({ seq }) => seq > last).reverse()
          return { ...before, missed, requests: [...fresh, ...before.requests].slice(0, rows) }
        }),
      ),
      hear('second', ({ second, counts }) =>
        setShown((before) => {
          const last = before.seconds.at(-1)?.at ?? 0
          const seconds = second.at > last ? [...before.seconds, second].slice(-minutes) : before.seconds
          return { ...before, seconds, counts }
        }),
      ),
    ]
    return () => {
      for (const each of leave) each()
    }
  }, [again, paused])
  return shown
}

/** What there is to choose from: what was seen. Only ever more, so that a list does not change under the finger. */
function useNames(requests: readonly Request[]): {
  readonly tenants: readonly string[]
  readonly tools: readonly string[]
} {
  const [seen] = useState(() => ({ tenants: new Set<string>(), tools: new Set<string>() }))
  for (const { tenant, tool } of requests) {
    if (tenant !== '' && seen.tenants.size < 200) seen.tenants.add(tenant)
    if (tool !== undefined && seen.tools.size < 500) seen.tools.add(tool)
  }
  const size = seen.tenants.size + seen.tools.size
  // Sets that only grow are told by their size.
  return useMemo(() => ({ tenants: [...seen.tenants].sort(), tools: [...seen.tools].sort() }), [size])
}

function Tiles({ seconds }: { readonly seconds: readonly Second[] }): JSX.Element {
  const recent = seconds.slice(-10)
  const minute = seconds.slice(-60)
  const calls = sum(recent, 'calls')
  const last = seconds.findLast(({ p50 }) => p50 !== undefined)
  const errors = sum(minute, 'errors')
  const all = sum(minute, 'calls')
  return (
    <dl class="tiles">
      <Tile name="Requests per second" value={number(Math.round((calls / Math.max(1, recent.length)) * 10) / 10)} />
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

const Tile = ({
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

const sum = (seconds: readonly Second[], field: 'calls' | 'errors' | 'shed'): number =>
  seconds.reduce((total, second) => total + second[field], 0)

/** What the parts of the servers count: their queues, what they shed, dropped or could not stop. */
const Counts = ({ counts }: { readonly counts: readonly Count[] }): JSX.Element | null =>
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

/** Of all servers together. */
function summed(counts: readonly Count[]): readonly Count[] {
  const byName = new Map<string, Count>()
  for (const count of counts) {
    const before = byName.get(count.name)
    byName.set(count.name, { ...count, value: count.value + (before?.value ?? 0) })
  }
  return [...byName.values()]
}

const rateLines = [
  { label: 'requests', colour: '--accent', fill: true },
  { label: 'errors', colour: '--bad' },
  { label: 'refused', colour: '--warn' },
]
const latencyLines = [
  { label: 'p99', colour: '--bad' },
  { label: 'p95', colour: '--warn' },
  { label: 'p50', colour: '--accent' },
]

function Plots({ seconds }: { readonly seconds: readonly Second[] }): JSX.Element {
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
      />
      <Plot title="Latency" lines={latencyLines} data={[at, of('p99'), of('p95'), of('p50')]} unit={milliseconds} />
    </div>
  )
}

function Requests({
  requests,
  missed,
}: {
  readonly requests: readonly Request[]
  readonly missed: number
}): JSX.Element {
  if (requests.length === 0)
    return <Empty title="Nothing has passed yet">Requests appear here as they are answered.</Empty>
  return (
    <TableBox label="Requests">
      <table class="table requests">
        <caption class="unseen">The last requests, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Tenant</th>
            <th scope="col">Caller</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="right">
              Took
            </th>
          </tr>
        </thead>
        <tbody>{requests.map(rowOf)}</tbody>
      </table>
      <p class="dim table-foot" aria-hidden="true">
        {missed > 0
          ? `${number(missed)} more passed in the last moment than are listed.`
          : `The last ${requests.length}.`}
      </p>
    </TableBox>
  )
}

/** A request does not change, and an element that is the same is not looked at again. */
const made = new WeakMap<Request, JSX.Element>()
function rowOf(request: Request): JSX.Element {
  const known = made.get(request)
  if (known) return known
  const row = <RequestRow key={request.seq} request={request} />
  made.set(request, row)
  return row
}

const RequestRow = ({ request }: { readonly request: Request }): JSX.Element => (
  <tr>
    <td class="time">{clockTime(request.at)}</td>
    <td class="what">
      <span class="tool-name">
        <Visible text={request.tool ?? (request.method === '' ? 'refused unread' : request.method)} />
      </span>
      <span class="dim from">
        <Visible text={request.server} />
        {request.client !== undefined && (
          <>
            {' · '}
            <Visible text={request.client} />
          </>
        )}
      </span>
      {request.message !== undefined && (
        <span class="bad-text sub">
          <Visible text={request.message} />
        </span>
      )}
    </td>
    <td>
      <Visible text={request.tenant} />
    </td>
    <td>
      <Visible text={request.caller} />
    </td>
    <td>
      <Chip tone={request.failed ? 'bad' : request.outcome === 'complete' ? 'good' : 'accent'}>{request.outcome}</Chip>
    </td>
    <td class="right">{milliseconds(request.durationMs)}</td>
  </tr>
)
