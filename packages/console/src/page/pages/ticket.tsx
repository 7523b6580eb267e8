/** One complete ticket. It can be approved only after everything was shown. */

import type { ComponentChildren, JSX } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Operator, Ticket } from '../../api/index.ts'
import { changesOf } from '../arguments.ts'
import { Arguments } from '../arguments-view.tsx'
import { callApi } from '../client.ts'
import { subscribe } from '../event-stream.ts'
import { useNow, useQuery } from '../hooks.ts'
import { Back } from '../icons.tsx'
import { ago, Chip, countdown, dateTime, Empty, Hints, Visible, VisibleLines } from '../ui.tsx'
import { TicketContext } from './context.tsx'
import { DecisionForm, InDoubtForm } from './decide.tsx'
import type { NextTicket } from './outcome.tsx'
import { missingPeople, Outcome } from './outcome.tsx'
import { Questions } from './questions.tsx'

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
  void: 'plain',
} as const

export interface TicketDetailProps {
  readonly id: string
  readonly operator: Operator
  readonly next: NextTicket | undefined
  /** Whether the page opened it after a decision. Its heading then gets the focus. */
  readonly wasNext: boolean
  readonly wasDecidedHere: boolean
  readonly onDecided: (ticket: Ticket) => void
  readonly onOpen: (id: string | undefined) => void
  /** Denies with the choice to revoke the key. */
  readonly onDeny: (ticket: Ticket) => void
}

export function TicketDetail(props: TicketDetailProps): JSX.Element {
  const { id, wasNext, onOpen } = props
  const { data, problem, reload } = useQuery(() => callApi('getTicket', { id }), id)
  // The answer to a decision is shown at once. Otherwise the buttons would stay until the ticket is loaded again.
  const [decided, setDecided] = useState<Ticket>()
  useEffect(() => setDecided(undefined), [data])
  const ticket = decided ?? data
  useEffect(() => subscribe('tickets', reload), [reload])
  const heading = useRef<HTMLHeadingElement>(null)
  const isLoaded = ticket !== undefined
  useEffect(() => {
    if (isLoaded && wasNext) heading.current?.focus()
  }, [isLoaded])
  const back = (
    <button type="button" class="back" onClick={() => onOpen(undefined)}>
      <Back /> All tickets
    </button>
  )
  if (!ticket)
    return (
      <>
        {back}
        {problem !== undefined && <Empty title="The ticket cannot be shown">{problem}</Empty>}
      </>
    )
  return (
    <article class="ticket-body">
      {back}
      <div class="ticket-head">
        <h2 ref={heading} tabIndex={-1}>
          <Visible text={ticket.tool} />
        </h2>
        <Chip tone={statusTone(ticket.status)}>{ticket.status}</Chip>
        <Hints hints={ticket.hints} />
      </div>
      <p class="what">
        <VisibleLines text={ticket.description} />
      </p>
      {ticket.effect && <Effect effect={ticket.effect} />}
      <Facts ticket={ticket} />
      <TicketContent
        {...props}
        ticket={ticket}
        onDecided={(answer) => {
          reload()
          setDecided(answer)
          props.onDecided(answer)
        }}
      />
    </article>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** Shown first, because the same arguments can mean something else in another state of the server. */
const Effect = ({ effect }: { readonly effect: NonNullable<Ticket['effect']> }): JSX.Element => (
  <section class="block">
    <h3>Acts on</h3>
    <dl class="facts">
      {effect.map(({ label, value }) => (
        <div key={label}>
          <dt>
            <Visible text={label} />
          </dt>
          <dd>
            <Visible text={value} />
          </dd>
        </div>
      ))}
    </dl>
  </section>
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
        <Fact name="Client (unverified)">
          <Visible text={ticket.client} />
        </Fact>
      )}
      <Fact name="Requested">
        <AskedAgo at={ticket.createdAt} />
      </Fact>
      {ticket.status === 'pending' && (
        <Fact name="Expires">
          <Expiry at={ticket.expiresAt} />
        </Fact>
      )}
      {ticket.task !== undefined && (
        <Fact name="Task">
          {ticket.status === 'pending' ? 'Waits for this decision: ' : ''}
          <code>{ticket.task}</code>
        </Fact>
      )}
      {ticket.needed > 1 && <Fact name="Approvals">{missingPeople(ticket)}</Fact>}
      <Fact name="Needs an approval because">
        {ticket.rule === undefined ? 'the tool asks for it' : <Visible text={`of the rule: ${ticket.rule}`} />}
      </Fact>
    </dl>
  )
}

function AskedAgo({ at }: { readonly at: number }): JSX.Element {
  return <time title={dateTime(at)}>{ago(useNow() - at)} ago</time>
}
function Expiry({ at }: { readonly at: number }): JSX.Element {
  const remainingMs = at - useNow()
  return (
    <span class={remainingMs < 60_000 ? 'soon' : ''}>
      {remainingMs > 0 ? `in ${countdown(remainingMs)}` : 'expired'}
    </span>
  )
}

function TicketContent(props: TicketDetailProps & { readonly ticket: Ticket }): JSX.Element {
  const { ticket, operator, onDecided } = props
  const [unseen, setUnseen] = useState<{ readonly [section: string]: readonly string[] }>({ arguments: ['Arguments'] })
  const setUnseenOf = useCallback(
    (section: string) => (names: readonly string[]) => setUnseen((before) => ({ ...before, [section]: names })),
    [],
  )
  const isPending = ticket.status === 'pending'
  const mayStillDecide = isPending && !ticket.decisions.some(({ by }) => by === operator.name)
  return (
    <>
      <Arguments label="Arguments" text={ticket.arguments} onUnseen={setUnseenOf('arguments')} />
      {ticket.answers !== '{}' && <Arguments label="Answers" text={ticket.answers} onUnseen={setUnseenOf('answers')} />}
      <p class="digest">
        Digest <code>{ticket.digest}</code>
      </p>
      {/* A previous approval that was taken back is no example of what was allowed. */}
      {ticket.previous && ticket.previous.status !== 'denied' && (
        <Changes before={ticket.previous.arguments} now={ticket.arguments} id={ticket.previous.id} />
      )}
      {ticket.decisions.length > 0 && <Decisions ticket={ticket} />}
      {ticket.questions && <Questions questions={ticket.questions} />}
      <TicketContext ticket={ticket} />
      {ticket.status === 'in doubt' ? (
        <InDoubtForm ticket={ticket} onResolved={onDecided} />
      ) : mayStillDecide ? (
        <DecisionForm
          ticket={ticket}
          operator={operator}
          unseen={Object.values(unseen).flat()}
          onDecided={onDecided}
          onDeny={props.onDeny}
        />
      ) : (
        <Outcome
          ticket={ticket}
          operator={operator.name}
          next={props.next}
          wasDecidedHere={props.wasDecidedHere}
          onDecided={onDecided}
          onOpen={props.onOpen}
        />
      )}
    </>
  )
}

function Changes(props: { readonly before: string; readonly now: string; readonly id: string }): JSX.Element {
  const found = changesOf(props.before, props.now)
  return (
    <section class="block">
      <h3>
        Changes since the last approved call <a href={`#/approvals/${encodeURIComponent(props.id)}`}>open it</a>
      </h3>
      {found === undefined ? (
        <p class="dim">Too large to compare here.</p>
      ) : found.changes.length === 0 ? (
        <p class="dim">The same arguments.</p>
      ) : (
        <table class="changes">
          <thead>
            <tr>
              <th scope="col">Path</th>
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
        <li key={`${by} ${approved}`}>
          <Chip tone={approved ? 'good' : 'bad'}>{approved ? 'approved' : 'denied'}</Chip>
          <span>
            <Visible text={by} />{' '}
            <span class="dim">
              via {via}, {dateTime(at)}
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
