/** Tickets a page at a time: undecided ones first, by age, then the rest, newest first. */

import type { Desk, TicketQuery } from './desk.ts'
import type { Shelf } from './shelf.ts'
import type { TicketView } from './ticket.ts'

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
        // One that is not there yet may be about to be added.
        if (which === 'open' && view && !isPending) await shelf.unindex(entry.at)
        if (
          view &&
          isPending === (which === 'open') &&
          (status === undefined || status === 'decided' || view.status === status)
        )
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

const countedAtOnce = 1000

/** By the index alone: reading ten thousand tickets to count them would take longer than deciding one. */
export const createPending = (shelf: Shelf): Desk['pending'] =>
  async function pending(tenants) {
    let count = 0
    for (let place: string | undefined; ; ) {
      const entries = await shelf.index('open', countedAtOnce, place)
      for (const { tenant } of entries) if (!tenants || tenants.includes(tenant)) count++
      place = entries.at(-1)?.at
      if (entries.length < countedAtOnce) return count
    }
  }

/** A cursor that is not ours begins anew. */
function parseCursor(after: TicketQuery['after'], status: TicketQuery['status']): ['open' | 'all', string | undefined] {
  const [which, ...place] = after?.split('.') ?? []
  if ((which === 'open' || which === 'all') && place.length === 2) return [which, place.join('.')]
  return [status === undefined || status === 'pending' ? 'open' : 'all', undefined]
}
