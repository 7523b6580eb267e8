/** The list of tickets, updated live, beside the opened ticket. */

import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Operator, Ticket, TicketPage, TicketSummary } from '../../../sluice/src/operate/console/api.ts'
import { callApi } from '../client.ts'
import { subscribe } from '../event-stream.ts'
import { useNow, useQuery } from '../hooks.ts'
import { Chip, countdown, Empty, Hints, number, PageHeader, Problem, Visible } from '../ui.tsx'
import { statusTone, TicketDetail } from './ticket.tsx'

type View = 'pending' | 'decided'

export function ApprovalsPage(props: {
  readonly id: string | undefined
  readonly operator: Operator
  readonly pending: number
}): JSX.Element {
  const { id, operator, pending } = props
  const [view, setView] = useState<View>('pending')
  const list = useTickets(view)
  const shown = list.tickets
  const open = (ticket: TicketSummary | undefined): void => {
    location.hash = ticket ? `#/approvals/${encodeURIComponent(ticket.id)}` : '#/approvals'
  }
  /** Opens the next ticket after a decision, so that a person with twenty tickets need not click each one. */
  const decided = (ticket: Ticket): void => {
    const at = shown.findIndex((each) => each.id === ticket.id)
    const next = shown[at + 1] ?? shown[at - 1]
    list.reload()
    open(view === 'pending' && next?.id !== ticket.id ? next : undefined)
  }
  return (
    <div class={`approvals ${id === undefined ? '' : 'opened'}`}>
      <h1 class="unseen">Approvals</h1>
      <section class="tickets" aria-label="Tickets">
        <PageHeader title="Approvals" visuallyHidden>
          <fieldset class="tabs">
            <legend class="unseen">Which tickets</legend>
            <button type="button" aria-pressed={view === 'pending'} onClick={() => setView('pending')}>
              Waiting <span class="count">{number(pending)}</span>
            </button>
            <button type="button" aria-pressed={view === 'decided'} onClick={() => setView('decided')}>
              Decided
            </button>
          </fieldset>
        </PageHeader>
        <Problem text={list.problem} />
        <TicketList list={list} view={view} chosen={id} onOpen={open} />
      </section>
      <section class="ticket" aria-label="Ticket">
        {id === undefined ? (
          <Empty title={shown.length === 0 ? 'No tickets to decide' : 'Choose a ticket'}>
            {shown.length === 0
              ? 'A call that needs an approval appears here at once.'
              : 'Use the arrow keys to move through the list and Enter to open a ticket.'}
          </Empty>
        ) : (
          <TicketDetail key={id} id={id} operator={operator} onDecided={decided} onBack={() => open(undefined)} />
        )}
      </section>
    </div>
  )
}

interface TicketPages {
  readonly tickets: readonly TicketSummary[]
  readonly loaded: boolean
  readonly more: (() => void) | undefined
  readonly problem: string | undefined
  readonly reload: () => void
}

/** Loads the first page again after a change. Further pages stay as they are. */
function useTickets(view: View): TicketPages {
  const first = useQuery(() => callApi('listTickets', { status: view }), view)
  const [rest, setRest] = useState<{ readonly view: View; readonly pages: readonly TicketPage[] }>({ view, pages: [] })
  useEffect(() => subscribe('tickets', first.reload), [first.reload])
  const pages = rest.view === view ? rest.pages : noPages
  const last = pages.at(-1) ?? first.data
  const next = last?.next
  const known = useRef(new Map<string, TicketSummary>())
  const tickets = useMemo(() => {
    const seen = new Map<string, TicketSummary>()
    for (const ticket of [...(first.data ? [first.data] : []), ...pages].flatMap((page) => page.tickets))
      seen.set(ticket.id, reuseUnchanged(ticket, known.current.get(ticket.id)))
    known.current = seen
    return [...seen.values()]
  }, [first.data, pages])
  return {
    tickets,
    loaded: first.data !== undefined,
    problem: first.problem,
    reload: first.reload,
    more:
      next === undefined
        ? undefined
        : () => {
            callApi('listTickets', { status: view, after: next }).then(
              (page) => setRest({ view, pages: [...pages, page] }),
              () => {},
            )
          },
  }
}

const noPages: readonly TicketPage[] = []

/** Keeps the same object for an unchanged ticket, so that its row is not rendered again when another ticket changes. */
const reuseUnchanged = (ticket: TicketSummary, before: TicketSummary | undefined): TicketSummary =>
  before?.status === ticket.status && before.decided === ticket.decided ? before : ticket

const rowCache = new WeakMap<TicketSummary, JSX.Element>()
function rowOf(ticket: TicketSummary): JSX.Element {
  const known = rowCache.get(ticket)
  if (known) return known
  const row = <TicketRow ticket={ticket} />
  rowCache.set(ticket, row)
  return row
}

function TicketList(props: {
  readonly list: TicketPages
  readonly view: View
  readonly chosen: string | undefined
  readonly onOpen: (ticket: TicketSummary) => void
}): JSX.Element {
  const { list, chosen, onOpen } = props
  const listElement = useRef<HTMLUListElement>(null)
  if (list.loaded && list.tickets.length === 0)
    return <Empty title={props.view === 'pending' ? 'No pending tickets' : 'No decided tickets yet'} />
  function move(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key]
    if (by === undefined) return
    const links = [...(listElement.current?.querySelectorAll('a') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus()
    event.preventDefault()
  }
  return (
    <ul class="ticket-list" ref={listElement} onKeyDown={move}>
      {list.tickets.map((ticket) => (
        <li key={ticket.id}>
          <a
            href={`#/approvals/${encodeURIComponent(ticket.id)}`}
            aria-current={ticket.id === chosen ? 'true' : undefined}
            onClick={(event) => {
              event.preventDefault()
              onOpen(ticket)
            }}
          >
            {rowOf(ticket)}
          </a>
        </li>
      ))}
      {list.more && (
        <li class="more">
          <button type="button" class="button" onClick={list.more}>
            Show more
          </button>
        </li>
      )}
    </ul>
  )
}

function TimeLeft({ until }: { readonly until: number }): JSX.Element {
  const remainingMs = until - useNow()
  return (
    <span class={`left ${remainingMs < 60_000 ? 'soon' : ''}`}>
      {remainingMs > 0 ? countdown(remainingMs) : 'expired'}
    </span>
  )
}

function TicketRow({ ticket }: { readonly ticket: TicketSummary }): JSX.Element {
  return (
    <>
      <span class="row-top">
        <span class="tool-name">
          <Visible text={ticket.tool} />
        </span>
        {ticket.status === 'pending' ? (
          <TimeLeft until={ticket.expiresAt} />
        ) : (
          <Chip tone={statusTone(ticket.status)}>{ticket.status}</Chip>
        )}
      </span>
      <span class="row-args">
        <Visible text={ticket.excerpt} />
      </span>
      <span class="row-who">
        <span>
          <Visible text={ticket.caller} /> · <Visible text={ticket.tenant} />
        </span>
        <Hints hints={ticket.hints.filter((hint) => hint === 'destructive')} />
      </span>
    </>
  )
}
