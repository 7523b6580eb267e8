/** Lists tickets in pages. Pending tickets come first, oldest first; then the others, newest first. */

import type { ApprovalsService, TicketQuery } from './service.ts'
import type { TicketView } from './ticket.ts'
import type { TicketStore } from './ticket-store.ts'

const defaultPageSize = 50
const maxPageSize = 200
/** The maximum number of index entries read for one page if a filter matches few. The next page continues from there. */
const maxScanned = 2000

export const createList = (ticketStore: TicketStore, get: ApprovalsService['get']): ApprovalsService['list'] =>
  async function list({ tenant, status, tool, after, limit = defaultPageSize } = {}) {
    const size = Math.min(Math.max(1, limit), maxPageSize)
    const tickets: TicketView[] = []
    let [which, cursor] = parseCursor(after, status)
    for (let scanned = 0; ; ) {
      const entries = await ticketStore.listIndex(which, size, cursor)
      for (const entry of entries) {
        cursor = entry.cursor
        scanned++
        if ((tenant !== undefined && entry.tenant !== tenant) || (tool !== undefined && entry.tool !== tool)) continue
        const view = await get(entry.id)
        const isPending = view?.status === 'pending'
        // A ticket without a view may be about to be added, so its entry stays.
        if (which === 'open' && view && !isPending) await ticketStore.removeFromOpenIndex(entry.cursor)
        if (
          view &&
          isPending === (which === 'open') &&
          (status === undefined || status === 'decided' || view.status === status)
        )
          tickets.push(view)
        if (tickets.length === size) return { tickets, next: `${which}.${cursor}` }
      }
      if (entries.length === size) {
        if (scanned >= maxScanned) return { tickets, next: `${which}.${cursor ?? ''}` }
      } else if (which === 'all' || status === 'pending') return { tickets }
      else {
        which = 'all'
        cursor = undefined
      }
    }
  }

const countBatchSize = 1000
/** Every open page of the console counts once a second, so the count of a hundred thousand would keep a core busy. */
const maxCounted = 10_000

/** Counts by the index alone, because reading ten thousand tickets to count them would be too slow. */
export const createPendingCount = (ticketStore: Pick<TicketStore, 'listIndex'>): ApprovalsService['pending'] =>
  async function pending(tenants) {
    let count = 0
    for (let cursor: string | undefined; ; ) {
      const entries = await ticketStore.listIndex('open', countBatchSize, cursor)
      for (const { tenant } of entries) if (!tenants || tenants.includes(tenant)) count++
      if (count >= maxCounted) return maxCounted
      cursor = entries.at(-1)?.cursor
      if (entries.length < countBatchSize) return count
    }
  }

/** An invalid cursor starts from the beginning. */
function parseCursor(after: TicketQuery['after'], status: TicketQuery['status']): ['open' | 'all', string | undefined] {
  const [which, ...cursor] = after?.split('.') ?? []
  if ((which === 'open' || which === 'all') && cursor.length === 2) return [which, cursor.join('.')]
  return [status === undefined || status === 'pending' ? 'open' : 'all', undefined]
}
