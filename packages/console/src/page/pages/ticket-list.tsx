/** The rows of the list of tickets, in groups of the same tool, caller and server, and the keys that move through them. */

import type { JSX, RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { TicketSummary } from '../../api/index.ts'
import { useNow } from '../hooks.ts'
import { Chip, countdown, Empty, Hints, number, Visible } from '../ui.tsx'
import { statusTone } from './ticket.tsx'
import type { TicketPages } from './tickets-query.ts'

export interface TicketGroup {
  readonly key: string
  /** Whether it has a heading. A list without groups is one group without a heading. */
  readonly hasHeading: boolean
  readonly tickets: readonly TicketSummary[]
}

/** Groups stay in the order of their oldest ticket. */
export function groupsOf(tickets: readonly TicketSummary[], isGrouped: boolean): readonly TicketGroup[] {
  if (!isGrouped) return [{ key: '', hasHeading: false, tickets }]
  const groups = new Map<string, TicketSummary[]>()
  for (const ticket of tickets) {
    const key = JSON.stringify([ticket.server, ticket.tool, ticket.caller, ticket.tenant])
    groups.set(key, [...(groups.get(key) ?? []), ticket])
  }
  return [...groups].map(([key, each]) => ({ key, hasHeading: true, tickets: each }))
}

/** Elements in which keys have their own meaning. */
const textFields = 'input, textarea, select, dialog'

/** Arrows, j and k move through the list from anywhere on the page, and ? shows the keys. */
export function useListKeys(chosen: string | undefined, onHelp: () => void): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null)
  const latest = useRef({ chosen, onHelp })
  latest.current = { chosen, onHelp }
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || at.closest(textFields)) return
      if (event.key === '?') {
        event.preventDefault()
        latest.current.onHelp()
        return
      }
      const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key]
      // The arrows scroll a listing that has the focus.
      if (by === undefined || (event.key.startsWith('Arrow') && at.closest('.code'))) return
      const links = [...(list.current?.querySelectorAll('a') ?? [])]
      const focused = links.indexOf(document.activeElement as HTMLAnchorElement)
      const from = focused === -1 ? links.findIndex((link) => link.hasAttribute('aria-current')) : focused
      links[Math.max(0, Math.min(links.length - 1, from + by))]?.focus()
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return list
}

const rowCache = new WeakMap<TicketSummary, JSX.Element>()
function rowOf(ticket: TicketSummary): JSX.Element {
  const known = rowCache.get(ticket)
  if (known) return known
  const row = <TicketRow ticket={ticket} />
  rowCache.set(ticket, row)
  return row
}

export function TicketList(props: {
  readonly list: TicketPages
  readonly groups: readonly TicketGroup[]
  readonly emptyText: string
  readonly chosen: string | undefined
  readonly listElement: RefObject<HTMLDivElement | null>
  readonly onOpen: (id: string) => void
  readonly onDeny: (tickets: readonly TicketSummary[]) => void
}): JSX.Element {
  const { list, groups, chosen, onOpen } = props
  if (list.loaded && list.tickets.length === 0) return <Empty title={props.emptyText} />
  return (
    <div class="ticket-list" ref={props.listElement}>
      {groups.map(({ key, hasHeading, tickets }) => (
        <div key={key}>
          {hasHeading && <GroupHeading tickets={tickets} onDeny={() => props.onDeny(tickets)} />}
          <ul>
            {tickets.map((ticket) => (
              <li key={ticket.id}>
                <a
                  href={`#/approvals/${encodeURIComponent(ticket.id)}`}
                  aria-current={ticket.id === chosen ? 'true' : undefined}
                  onClick={(event) => {
                    event.preventDefault()
                    onOpen(ticket.id)
                  }}
                >
                  {rowOf(ticket)}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {list.more && (
        <p class="more">
          <button type="button" class="button" onClick={list.more}>
            Show more
          </button>
        </p>
      )}
    </div>
  )
}

function GroupHeading(props: { readonly tickets: readonly TicketSummary[]; readonly onDeny: () => void }): JSX.Element {
  const [first] = props.tickets
  return (
    <div class="group-head">
      <h2>
        <Visible text={first?.tool ?? ''} />{' '}
        <span class="dim">
          <Visible text={first?.caller ?? ''} />, <Visible text={first?.server ?? ''} />
        </span>
      </h2>
      <span class="count">{number(props.tickets.length)}</span>
      {props.tickets.length > 1 && (
        <button type="button" class="button small danger" onClick={props.onDeny}>
          Deny these
          <span class="unseen">
            {' '}
            {props.tickets.length} of {first?.tool} by {first?.caller}
          </span>
        </button>
      )}
    </div>
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
          <Visible text={ticket.caller} /> · <Visible text={ticket.tenant} /> ·{' '}
          <span class="dim">
            <Visible text={ticket.server} />
          </span>
        </span>
        <span class="row-chips">
          {ticket.status === 'pending' && ticket.needed > 1 && (
            <Chip tone="accent">
              {ticket.decided} of {ticket.needed}
            </Chip>
          )}
          <Hints hints={ticket.hints.filter((hint) => hint === 'destructive')} />
        </span>
      </span>
    </>
  )
}
