/** The list of tickets, updated live, beside the opened ticket. */

import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Operator, Ticket } from '../../api/index.ts'
import { Empty, number, PageHeader, Problem } from '../ui.tsx'
import type { Deniable } from './deny-dialog.tsx'
import { DenyDialog } from './deny-dialog.tsx'
import { KeysHelp } from './keys-help.tsx'
import { announcementOf } from './outcome.tsx'
import { TicketDetail } from './ticket.tsx'
import type { TicketFilter } from './ticket-filter.tsx'
import { isFiltered, noFilter, TicketFilters, useFilterNames } from './ticket-filter.tsx'
import { groupsOf, TicketList, useListKeys } from './ticket-list.tsx'
import type { TicketView } from './tickets-query.ts'
import { useTickets } from './tickets-query.ts'

/** The server counts no further. */
const maxCounted = 10_000
/** More pending tickets than this are grouped when the page opens. */
const groupFrom = 8

export function ApprovalsPage(props: {
  readonly id: string | undefined
  readonly operator: Operator
  readonly pending: number
}): JSX.Element {
  const { id, operator, pending } = props
  const [view, setView] = useState<TicketView>('pending')
  const [filter, setFilter] = useState<TicketFilter>(noFilter)
  const list = useTickets(view, filter)
  const names = useFilterNames(list.tickets, filter)
  const [isGrouped, setGrouped] = useState<boolean>()
  const [help, setHelp] = useState(false)
  const [denying, setDenying] = useState<readonly Deniable[]>()
  const [announcement, announce] = useState('')
  const [notice, setNotice] = useState<string>()
  /** The ticket that this page decided last, and the one after it. */
  const [decided, setDecided] = useState<{ readonly id: string; readonly next: string | undefined }>()
  // Decided once, so that the list is not rearranged while a person reads it.
  useEffect(() => {
    if (list.loaded && isGrouped === undefined) setGrouped(list.tickets.length > groupFrom)
  }, [list.loaded])

  const groups = useMemo(
    () => groupsOf(list.tickets, view === 'pending' && isGrouped === true),
    [list.tickets, view, isGrouped],
  )
  const shown = groups.flatMap(({ tickets }) => tickets)
  const open = (ticket: string | undefined): void => {
    location.hash = ticket === undefined ? '#/approvals' : `#/approvals/${encodeURIComponent(ticket)}`
  }
  const listElement = useListKeys(id, () => setHelp(true))
  const onDecided = (ticket: Ticket): void => {
    const at = shown.findIndex((each) => each.id === ticket.id)
    setDecided({ id: ticket.id, next: shown[at + 1]?.id ?? shown[0]?.id })
    announce(announcementOf(ticket, operator.name))
    list.reload()
  }
  const others = view === 'pending' ? shown.filter((each) => each.id !== id && each.mayDecide) : []
  const next = others.find((each) => each.id === decided?.next) ?? others[0]
  const nextCount = list.more && !isFiltered(filter) ? Math.max(others.length, pending - 1) : others.length

  return (
    <div class={`approvals ${id === undefined ? '' : 'opened'}`}>
      <h1 class="unseen">Approvals</h1>
      <p class="unseen" role="status">
        {announcement}
      </p>
      <section class="tickets" aria-label="Tickets">
        <PageHeader title="Approvals" visuallyHidden>
          <fieldset class="tabs">
            <legend class="unseen">Which tickets</legend>
            <button type="button" aria-pressed={view === 'pending'} onClick={() => setView('pending')}>
              Waiting <span class="count">{`${number(pending)}${pending >= maxCounted ? '+' : ''}`}</span>
            </button>
            <button type="button" aria-pressed={view === 'decided'} onClick={() => setView('decided')}>
              Decided
            </button>
          </fieldset>
          <button
            type="button"
            class="icon-button"
            aria-label="Show the keys"
            title="Keys (?)"
            onClick={() => setHelp(true)}
          >
            ?
          </button>
        </PageHeader>
        <TicketFilters
          filter={filter}
          names={names}
          isGrouped={isGrouped === true}
          onFilter={setFilter}
          onGroup={view === 'pending' ? () => setGrouped(isGrouped !== true) : undefined}
        />
        <Problem text={list.problem} />
        {notice !== undefined && (
          <p class="notice">
            {notice}
            <button
              type="button"
              class="button small quiet"
              aria-label="Close this message"
              onClick={() => setNotice(undefined)}
            >
              ✕
            </button>
          </p>
        )}
        {isFiltered(filter) && view === 'pending' && shown.length > 0 && (
          <div class="group-head">
            <span>
              {number(shown.length)} {list.more ? 'or more match' : shown.length === 1 ? 'matches' : 'match'}
            </span>
            <button type="button" class="button small danger" onClick={() => setDenying(shown)}>
              Deny these
            </button>
          </div>
        )}
        <TicketList
          list={list}
          groups={groups}
          emptyText={emptyText(view, filter)}
          chosen={id}
          listElement={listElement}
          onOpen={open}
          onDeny={setDenying}
        />
      </section>
      <section class="ticket" aria-label="Ticket">
        {id === undefined ? (
          <Empty title={shown.length === 0 ? 'No tickets to decide' : 'Choose a ticket'}>
            {shown.length === 0
              ? 'A call that needs an approval appears here at once.'
              : 'Use the arrow keys to move through the list and Enter to open a ticket. Press ? for all keys.'}
          </Empty>
        ) : (
          <TicketDetail
            key={id}
            id={id}
            operator={operator}
            next={next && { id: next.id, count: nextCount }}
            wasNext={decided !== undefined && decided.id !== id}
            wasDecidedHere={decided?.id === id}
            onDecided={onDecided}
            onOpen={open}
            onDeny={(ticket) => setDenying([ticket])}
          />
        )}
      </section>
      {denying && (
        <DenyDialog
          tickets={denying}
          mayRevoke={operator.scopes.includes('keys:manage')}
          onClose={() => setDenying(undefined)}
          onDone={(message) => {
            setDenying(undefined)
            announce(message)
            setNotice(message)
            list.reload()
          }}
        />
      )}
      {help && <KeysHelp onClose={() => setHelp(false)} />}
    </div>
  )
}

const emptyText = (view: TicketView, filter: TicketFilter): string =>
  isFiltered(filter)
    ? 'No tickets match the filter'
    : view === 'pending'
      ? 'No pending tickets'
      : 'No decided tickets yet'
