/** Loads the list of tickets, and loads it again when a ticket changes. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TicketPage, TicketSummary } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { subscribe } from '../event-stream.ts'
import { useQuery } from '../hooks.ts'
import type { TicketFilter } from './ticket-filter.tsx'

export type TicketView = 'pending' | 'decided'

export interface TicketPages {
  readonly tickets: readonly TicketSummary[]
  readonly loaded: boolean
  readonly more: (() => void) | undefined
  readonly problem: string | undefined
  readonly reload: () => void
}

const pageSize = 100

/** Loads the first page again after a change. Further pages stay as they are. */
export function useTickets(view: TicketView, filter: TicketFilter): TicketPages {
  const query = {
    status: view,
    limit: pageSize,
    ...Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '')),
  }
  const key = JSON.stringify(query)
  const first = useQuery(async () => ({ key, page: await callApi('listTickets', query) }), key)
  const [rest, setRest] = useState<{ readonly key: string; readonly pages: readonly TicketPage[] }>({ key, pages: [] })
  useEffect(() => subscribe('tickets', first.reload), [first.reload])
  const pages = rest.key === key ? rest.pages : noPages
  // The page of another filter stays until the new one is loaded, so that the list does not flicker.
  const last = pages.at(-1) ?? first.data?.page
  const next = last?.next
  const known = useRef(new Map<string, TicketSummary>())
  const tickets = useMemo(() => {
    const seen = new Map<string, TicketSummary>()
    for (const ticket of [...(first.data ? [first.data.page] : []), ...pages].flatMap((page) => page.tickets))
      seen.set(ticket.id, reuseUnchanged(ticket, known.current.get(ticket.id)))
    known.current = seen
    return [...seen.values()]
  }, [first.data, pages])
  return {
    tickets,
    loaded: first.data?.key === key,
    problem: first.problem,
    reload: first.reload,
    more:
      next === undefined
        ? undefined
        : () => {
            callApi('listTickets', { ...query, after: next }).then(
              (page) => setRest({ key, pages: [...pages, page] }),
              () => {},
            )
          },
  }
}

const noPages: readonly TicketPage[] = []

/** Keeps the same object for an unchanged ticket, so that its row is not rendered again when another ticket changes. */
const reuseUnchanged = (ticket: TicketSummary, before: TicketSummary | undefined): TicketSummary =>
  before?.status === ticket.status && before.decided === ticket.decided && before.mayDecide === ticket.mayDecide
    ? before
    : ticket
