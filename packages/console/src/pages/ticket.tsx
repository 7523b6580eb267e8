/** One ticket, whole: nothing is decided here that was not shown. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Operator, Ticket } from '../../../sluice/src/operate/console/api.ts'
import { changesOf } from '../arguments.ts'
import { ask, problemOf } from '../client.ts'
import { hear } from '../feed.ts'
import { serverNow, useAsked, useNow } from '../hooks.ts'
import { Back } from '../icons.tsx'
import { Arguments } from '../shown-arguments.tsx'
import { ago, Chip, countdown, dateTime, Empty, Hints, Problem, Select, Visible } from '../ui.tsx'

export const statusTone = (status: Ticket['status']): 'good' | 'bad' | 'warn' | 'accent' | 'plain' => tones[status]
const tones = {
  pending: 'accent',
  approved: 'good',
  running: 'accent',
  done: 'good',
  denied: 'bad',
  failed: 'bad',
  'in doubt': 'warn',
  expired: 'plain',
} as const

export function TicketDetail(props: {
  readonly id: string
  readonly operator: Operator
  readonly onDecided: (ticket: Ticket) => void
  readonly onBack: () => void
}): JSX.Element {
  const { id, onDecided, onBack } = props
  const { data: ticket, problem, again } = useAsked(() => ask('getTicket', { id }), id)
  useEffect(() => hear('tickets', again), [again])
  const back = (
    <button type="button" class="back" onClick={onBack}>
      <Back /> All tickets
    </button>
  )
  if (!ticket)
    return (
      <>
        {back}
        {problem !== undefined && <Empty title="This ticket cannot be shown">{problem}</Empty>}
      </>
    )
  return (
    <article class="ticket-body">
      {back}
      <div class="ticket-head">
        <h2>
          <Visible text={ticket.tool} />
        </h2>
        <Chip tone={statusTone(ticket.status)}>{ticket.status}</Chip>
        <Hints hints={ticket.hints} />
      </div>
      <p class="what">
        <Visible text={ticket.description} />
      </p>
      <Facts ticket={ticket} />
      <Shown ticket={ticket} onDecided={onDecided} />
    </article>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function Facts({ ticket }: { readonly ticket: Ticket }): JSX.Element {
  return (
    <dl class="facts">
      <Fact name="Caller">
        <Visible text={ticket.caller} />
      </Fact>
      <Fact name="Tenant">
        <Visible text={ticket.tenant} />
      </Fact>
      <Fact name="Server">
        <Visible text={ticket.server} />
      </Fact>
      {ticket.client !== undefined && (
        <Fact name="Client, by its own word">
          <Visible text={ticket.client} />
        </Fact>
      )}
      <Fact name="Asked">
        <Asked at={ticket.createdAt} />
      </Fact>
      {ticket.status === 'pending' && (
        <Fact name="Expires">
          <Expiry at={ticket.expiresAt} />
        </Fact>
      )}
      {ticket.needed > 1 && (
        <Fact name="Approvals">
          {ticket.decisions.filter(({ approved }) => approved).length} of {ticket.needed}
        </Fact>
      )}
      <Fact name="Digest">
        <code class="digest">{ticket.digest}</code>
      </Fact>
    </dl>
  )
}

function Asked({ at }: { readonly at: number }): JSX.Element {
  return <time title={dateTime(at)}>{ago(useNow() - at)} ago</time>
}
function Expiry({ at }: { readonly at: number }): JSX.Element {
  const left = at - useNow()
  return <span class={left < 60_000 ? 'soon' : ''}>{left > 0 ? `in ${countdown(left)}` : 'expired'}</span>
}

function Shown({
  ticket,
  onDecided,
}: {
  readonly ticket: Ticket
  readonly onDecided: (ticket: Ticket) => void
}): JSX.Element {
  const [whole, setWhole] = useState(false)
  const isPending = ticket.status === 'pending'
  return (
    <>
      <section class="block">
        <h3>Arguments</h3>
        <Arguments text={ticket.arguments} onWhole={() => setWhole(true)} />
      </section>
      {ticket.answers !== '{}' && (
        <section class="block">
          <h3>Answers</h3>
          <Arguments text={ticket.answers} />
        </section>
      )}
      {ticket.previous && <Changes before={ticket.previous.arguments} now={ticket.arguments} id={ticket.previous.id} />}
      {ticket.decisions.length > 0 && <Decisions ticket={ticket} />}
      {ticket.status === 'in doubt' && <InDoubt ticket={ticket} onResolved={onDecided} />}
      {isPending && ticket.mayDecide && <Allow ticket={ticket} />}
      {isPending && <Decide ticket={ticket} whole={whole} onDecided={onDecided} />}
    </>
  )
}

function Changes(props: { readonly before: string; readonly now: string; readonly id: string }): JSX.Element {
  const found = changesOf(props.before, props.now)
  return (
    <section class="block">
      <h3>
        Since the last approved call <a href={`#/approvals/${encodeURIComponent(props.id)}`}>open it</a>
      </h3>
      {found === undefined ? (
        <p class="dim">Too large to compare here.</p>
      ) : found.changes.length === 0 ? (
        <p class="dim">The same arguments.</p>
      ) : (
        <table class="changes">
          <thead>
            <tr>
              <th scope="col">Where</th>
              <th scope="col">Before</th>
              <th scope="col">Now</th>
            </tr>
          </thead>
          <tbody>
            {found.changes.map(({ path, before, now }) => (
              <tr key={path}>
                <th scope="row">
                  <Visible text={path} />
                </th>
                <td class="before">{before === undefined ? '–' : <Visible text={before} />}</td>
                <td class="now">{now === undefined ? '–' : <Visible text={now} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {found !== undefined && found.same > 0 && <p class="dim">{found.same} unchanged</p>}
    </section>
  )
}

const Decisions = ({ ticket }: { readonly ticket: Ticket }): JSX.Element => (
  <section class="block">
    <h3>Decisions</h3>
    <ul class="decisions">
      {ticket.decisions.map(({ by, via, approved, at, note }) => (
        <li key={by}>
          <Chip tone={approved ? 'good' : 'bad'}>{approved ? 'approved' : 'denied'}</Chip>
          <span>
            <Visible text={by} />{' '}
            <span class="dim">
              by {via}, {dateTime(at)}
            </span>
          </span>
          {note !== undefined && (
            <q>
              <Visible text={note} />
            </q>
          )}
        </li>
      ))}
    </ul>
  </section>
)

function Decide(props: {
  readonly ticket: Ticket
  readonly whole: boolean
  readonly onDecided: (ticket: Ticket) => void
}): JSX.Element {
  const { ticket, whole, onDecided } = props
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const now = useNow()
  const isOver = ticket.expiresAt <= now
  const yes = useRef<HTMLButtonElement>(null)
  const no = useRef<HTMLButtonElement>(null)
  const may = ticket.mayDecide && !isOver

  async function decide(approved: boolean): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      const { id, digest } = ticket
      onDecided(await ask('decideTicket', { id, digest, approved, ...(note !== '' && { note }) }))
    } catch (thrown) {
      setProblem(problemOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  /** A key brings the button under the finger; pressing it is another key. */
  useEffect(() => {
    const hearKey = (event: KeyboardEvent): void => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea|select)$/i.test(at.tagName)) return
      if (event.key === 'a') yes.current?.focus()
      else if (event.key === 'd') no.current?.focus()
    }
    addEventListener('keydown', hearKey)
    return () => removeEventListener('keydown', hearKey)
  }, [])

  return (
    <div class="decide">
      <Problem text={problem} />
      <p class="dim" role="status">
        {isOver
          ? 'Its time is up: nothing can be decided any more.'
          : !ticket.mayDecide
            ? whyNot(ticket)
            : whole
              ? ''
              : 'Showing all arguments…'}
      </p>
      <label class="note">
        <span class="unseen">Note</span>
        <input
          value={note}
          maxLength={1000}
          placeholder="A note, kept with the decision"
          disabled={!may}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
      <button ref={no} type="button" class="button danger" disabled={!may || busy} onClick={() => void decide(false)}>
        Deny <kbd>D</kbd>
      </button>
      <button
        ref={yes}
        type="button"
        class="button primary"
        disabled={!may || busy || !whole || serverNow() >= ticket.expiresAt}
        onClick={() => void decide(true)}
      >
        Approve <kbd>A</kbd>
      </button>
    </div>
  )
}

const spans = [
  ['an hour', 3_600_000],
  ['a day', 86_400_000],
  ['a week', 604_800_000],
] as const

/** "Always allow", said out loud. Not there where the operator has not turned it on. */
function Allow({ ticket }: { readonly ticket: Ticket }): JSX.Element | null {
  const { data } = useAsked(() => ask('listGrants', {}), '')
  const [which, setWhich] = useState<'exactly' | 'any'>('exactly')
  const [lastMs, setLastMs] = useState<number>(spans[0][1])
  const [said, setSaid] = useState<string>()
  const offered = spans.filter(([, ms]) => ms <= (data?.longestMs ?? 0))
  if (offered.length === 0) return null
  const grant = (): void =>
    void ask('createGrant', { id: ticket.id, arguments: which, lastMs }).then(
      () => setSaid('Granted. It is listed under Tenants, where it can be ended. This ticket still waits.'),
      (thrown: unknown) => setSaid(problemOf(thrown)),
    )
  return (
    <details class="block allow">
      <summary>Do not ask again for a while</summary>
      <div class="inline">
        <Select
          label="Arguments"
          value={which}
          options={[
            ['exactly', 'with exactly these arguments'],
            ['any', 'with any arguments'],
          ]}
          onChoose={(value) => setWhich(value === 'any' ? 'any' : 'exactly')}
        />
        <Select
          label="For how long"
          value={String(lastMs)}
          options={offered.map(([word, ms]) => [String(ms), `for ${word}`] as const)}
          onChoose={(value) => setLastMs(Number(value))}
        />
        <button type="button" class="button" onClick={grant}>
          Let {ticket.caller} call {ticket.tool}
        </button>
      </div>
      {said !== undefined && <p role="status">{said}</p>}
    </details>
  )
}

/** It was begun and nobody knows whether it had its effect: somebody has to look, and say. */
function InDoubt(props: { readonly ticket: Ticket; readonly onResolved: (ticket: Ticket) => void }): JSX.Element {
  const [problem, setProblem] = useState<string>()
  const say = (verdict: 'ran' | 'did not run') => (): void =>
    void ask('resolveTicket', { id: props.ticket.id, verdict }).then(props.onResolved, (thrown: unknown) =>
      setProblem(problemOf(thrown)),
    )
  return (
    <div class="decide">
      <Problem text={problem} />
      <p>The process ended while this ran. It does not run again by itself: find out whether it had its effect.</p>
      <span />
      <button type="button" class="button" onClick={say('did not run')}>
        It did not run
      </button>
      <button type="button" class="button primary" onClick={say('ran')}>
        It ran
      </button>
    </div>
  )
}

function whyNot({ approver, of, decisions }: Ticket): string {
  if (decisions.length > 0) return 'You have decided; others have to, too.'
  if (of) return `Only ${of.join(', ')} may decide this.`
  return approver === 'other'
    ? 'Somebody else has to decide this: you asked for it, or you may not decide.'
    : 'You may look, not decide.'
}
