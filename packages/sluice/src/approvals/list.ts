/** Tickets a page at a time: undecided ones first, by age, then the rest, newest first. */

import type { Desk, TicketQuery } from './desk.ts'
import type { Shelf } from './shelf.ts'
import type { TicketStatus, TicketView } from './ticket.ts'

const usualPage = 50
const largestPage = 200
/** Looked at for one page where a filter lets little through; the next page goes on from there. */
const maxLooked = 2000

export const createList = (shelf: Shelf, get: Desk['get']): Desk['list'] =>
  async function list({ tenant, status, tool, after, limit = usualPage } = {}) {
    const size = Math.min(Math.max(1, limit), largestPage)
    const tickets: TicketView[] = []
    let [which, place] = parseCursor(after, status)
    for (let looked = 0; ; ) {
      const entries = await shelf.index(which, size, place)
      for (const entry of entries) {
        place = entry.at
        looked++
        if ((tenant !== undefined && entry.tenant !== tenant) || (tool !== undefined && entry.tool !== tool)) continue
        const view = await get(entry.id)
        const isPending = view?.status === 'pending'
        if (which === 'open' && !isPending) await shelf.unindex(entry.at)
        if (view && isPending === (which === 'open') && (status === undefined || view.status === status))
          tickets.push(view)
        if (tickets.length === size) return { tickets, next: `${which}.${place}` }
      }
      if (entries.length === size) {
        if (looked >= maxLooked) return { tickets, next: `${which}.${place ?? ''}` }
      } else if (which === 'all' || status === 'pending') return { tickets }
      else {
        which = 'all'
        place = undefined
      }
    }
  }

/** A cursor that is not ours begins anew. */
function parseCursor(
  after: TicketQuery['after'],
  status: TicketStatus | undefined,
): ['open' | 'all', string | undefined] {
  const [which, ...place] = after?.split('.') ?? []
  if ((which === 'open' || which === 'all') && place.length === 2) return [which, place.join('.')]
  return [status === undefined || status === 'pending' ? 'open' : 'all', undefined]
}
