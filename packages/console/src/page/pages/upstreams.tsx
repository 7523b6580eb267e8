/** The servers behind the gateway: their state, their processes, and a button to restart each. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ConnectionSummary, Operator, UpstreamSummary } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import { Code, toLines } from '../code.tsx'
import { serverNow, useQuery } from '../hooks.ts'
import { ago, Chip, Confirm, Empty, milliseconds, number, PageHeader, Problem, Visible } from '../ui.tsx'
import { Definitions } from './definitions.tsx'
import { UpstreamSignIn } from './upstream-sign-in.tsx'

const refreshMs = 5_000

export function UpstreamsPage({ operator }: { readonly operator: Operator }): JSX.Element {
  const { data, problem, reload } = useQuery(() => callApi('listUpstreams', {}), '')
  useEffect(() => {
    const timer = setInterval(reload, refreshMs)
    return () => clearInterval(timer)
  }, [reload])
  const mayManage = operator.scopes.includes('upstreams:manage') && operator.tenants.length === 0
  return (
    <>
      <PageHeader title="Upstreams" />
      <Problem text={problem} />
      {data?.upstreams.length === 0 && <Empty title="No upstreams yet">No server of the gateway has started.</Empty>}
      <div class="cards">
        {data?.upstreams.map((upstream) => (
          <Upstream key={upstream.name} upstream={upstream} mayManage={mayManage} onChange={reload} />
        ))}
      </div>
    </>
  )
}

const tones = {
  ready: 'good',
  idle: 'plain',
  starting: 'warn',
  unavailable: 'bad',
  backoff: 'warn',
  'crash-loop': 'bad',
  connecting: 'warn',
  closed: 'plain',
} as const

interface UpstreamProps {
  readonly upstream: UpstreamSummary
  readonly mayManage: boolean
  readonly onChange: () => void
}

function Upstream({ upstream, mayManage, onChange }: UpstreamProps): JSX.Element {
  const { name, state, connections, lastError, leftOut } = upstream
  return (
    <section class="card upstream" aria-label={name}>
      <header class="card-head">
        <h2>
          <Visible text={name} />
        </h2>
        <Chip tone={tones[state]}>{state}</Chip>
        {upstream.quarantined > 0 && <Chip tone="warn">{number(upstream.quarantined)} to review</Chip>}
        {upstream.definitions === 'stored' && <Chip>definitions from the store</Chip>}
        <Restart upstream={upstream} mayManage={mayManage} onDone={onChange} />
      </header>
      <Facts facts={factsOf(upstream)} />
      {upstream.signIn && <UpstreamSignIn upstream={name} signIn={upstream.signIn} onChange={onChange} />}
      {lastError !== undefined && (
        <p class="bad-text">
          <Visible text={lastError} />
        </p>
      )}
      <Definitions
        upstream={name}
        mayManage={mayManage}
        version={`${upstream.hash} ${upstream.quarantined} ${leftOut.length}`}
        onChange={onChange}
      />
      {leftOut.length > 0 && (
        <details>
          <summary>
            {leftOut.length === 1 ? '1 definition is' : `${number(leftOut.length)} definitions are`} not served
          </summary>
          <ul class="left-out">
            {leftOut.map(({ kind, name: definition, reason }) => (
              <li key={`${kind} ${definition} ${reason}`}>
                {kind} <Visible text={definition} />: <Visible text={reason} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {connections.map((connection) => (
        <Connection key={connection.key} connection={connection} />
      ))}
    </section>
  )
}

const factsOf = ({
  transport,
  revision,
  era,
  tools,
  prompts,
  resources,
  templates,
  ...rest
}: UpstreamSummary): Fact[] => [
  ['Transport', transport],
  ['Revision', revision === undefined ? undefined : `${revision}, ${era}`],
  ['Tools', number(tools)],
  ['Prompts', number(prompts)],
  ['Resources', number(resources + templates)],
  ['Calls in flight', number(rest.inFlight)],
  ['Restarts', number(rest.restarts)],
  ['Median of 100 calls', rest.p50 === undefined ? undefined : milliseconds(rest.p50)],
  ['95th percentile', rest.p95 === undefined ? undefined : milliseconds(rest.p95)],
]

type Fact = readonly [name: string, value: ComponentChildren]

const Facts = ({ facts }: { readonly facts: readonly Fact[] }): JSX.Element => (
  <dl class="facts">
    {facts.map(
      ([name, value]) =>
        value !== undefined && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
)

function Connection({ connection }: { readonly connection: ConnectionSummary }): JSX.Element {
  const { key, state, pid, startedAt, restarts, inFlight, revision, lastError, stderr = [], skippedLines } = connection
  const facts: readonly Fact[] = [
    ['Process', pid],
    ['Running for', startedAt === undefined || state !== 'ready' ? undefined : ago(serverNow() - startedAt)],
    ['Restarts', number(restarts)],
    ['Calls in flight', number(inFlight)],
    ['Revision', revision],
    ['Skipped lines', skippedLines === undefined || skippedLines === 0 ? undefined : number(skippedLines)],
  ]
  return (
    <details class="connection">
      <summary>
        <span class="tool-name">
          <Visible text={key} />
        </span>{' '}
        <Chip tone={tones[state]}>{state}</Chip>
        {pid !== undefined && <span class="dim"> process {pid}</span>}
      </summary>
      <Facts facts={facts} />
      {lastError !== undefined && (
        <p class="bad-text">
          <Visible text={lastError} />
        </p>
      )}
      {stderr.length > 0 && (
        <section class="block">
          <h3>Standard error, last lines</h3>
          <Code label={`Standard error of ${key}`} small>
            {toLines(stderr.join('\n'))}
          </Code>
        </section>
      )}
    </details>
  )
}

function Restart(props: {
  readonly upstream: UpstreamSummary
  readonly mayManage: boolean
  readonly onDone: () => void
}): JSX.Element {
  const { upstream, mayManage, onDone } = props
  const [state, setState] = useState<'ready' | 'asking' | 'restarting'>('ready')
  const [problem, setProblem] = useState<string>()
  function restart(): void {
    setState('restarting')
    setProblem(undefined)
    callApi('restartUpstream', { name: upstream.name })
      .catch((thrown: unknown) => setProblem(problemOf(thrown)))
      .finally(() => {
        setState('ready')
        onDone()
      })
  }
  return (
    <span class="card-action">
      <button
        type="button"
        class="button small"
        disabled={!mayManage || state === 'restarting'}
        onClick={() => setState('asking')}
      >
        {state === 'restarting' ? 'Restarting…' : 'Restart'}
        <span class="unseen"> {upstream.name}</span>
      </button>
      <Problem text={problem} />
      {state === 'asking' && (
        <Confirm title={`Restart ${upstream.name}?`} action="Restart" onYes={restart} onNo={() => setState('ready')}>
          <p>
            Its connections and processes end, and its definitions are listed again. Calls in flight (
            {number(upstream.inFlight)}) are in doubt and are not repeated.
          </p>
        </Confirm>
      )}
    </span>
  )
}
