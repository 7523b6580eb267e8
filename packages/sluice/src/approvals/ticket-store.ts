/**
 * Stores tickets. Two keys are authoritative.
 *
 * `bound` makes a ticket exist and is written last, after everything else. `state` is the only value that is swapped, and
 * it contains its own expiry. All other keys are hints that may be missing or stale: the two indexes, a caller's slots,
 * and the last similar ticket. docs/approvals.md lists the invariants.
 */

import type { Key, Store } from '../core/store.ts'
import type { ApprovalsService, TicketQuery } from './service.ts'
import type { Proposal, TicketState, TicketView } from './ticket.ts'
import { parseProposal, parseState } from './ticket.ts'

/** How often a change of a ticket is tried. A ticket that changes more often during one call means a broken store. */
export const maxTries = 20

export interface TicketTimes {
  /** The time a person has to decide. A denial is valid for as long. */
  readonly decideMs: number
  /** The time the caller has to run an approved call. */
  readonly runMs: number
  /** The time that a ticket and its arguments are kept. */
  readonly keepMs: number
}

export interface VersionedState {
  readonly state: TicketState
  /** The stored text, which a swap must find unchanged. */
  readonly text: string
}

export interface TicketIndexEntry {
  readonly id: string
  readonly tenant: string
  readonly server: string
  readonly tool: string
  /** The cursor of the page that follows this entry. */
  readonly cursor: string
}

export interface TicketStore {
  readProposal(id: string): Promise<Proposal | undefined>
  readState(id: string): Promise<VersionedState | undefined>
  /** Returns the id of the newest ticket with this binding. */
  findByBinding(proposal: BindingKey): Promise<string | undefined>
  /** Adds a ticket if `from` is still the newest with its binding. Otherwise returns `false` and removes what it wrote. */
  add(proposal: Proposal, from: string | undefined): Promise<boolean>
  /** Changes a ticket's state in one atomic step. `false` if the state is no longer `from`. */
  transition(id: string, from: VersionedState, to: TicketState): Promise<boolean>
  /** Returns the number of tickets that this process made before in the same millisecond. */
  nextSequence(at: number): number
  /** Takes one of the caller's slots for pending tickets. `undefined` if all are taken. */
  takeSlot(tenant: string, subject: string, id: string, max: number): Promise<string | undefined>
  /** Frees the slot and the index entry of a ticket that is no longer pending. */
  removeFromPending(proposal: Proposal): Promise<void>
  /** Returns the last approved ticket of a caller for a tool. */
  lastApproved(proposal: SimilarCall): Promise<string | undefined>
  setLastApproved(proposal: Proposal): Promise<void>
  /** `open` lists pending tickets, oldest first. `all` lists every ticket, newest first. */
  listIndex(which: 'open' | 'all', limit: number, after?: string): Promise<readonly TicketIndexEntry[]>
  removeFromOpenIndex(at: string): Promise<void>
}
type BindingKey = Pick<Proposal, 'tenant' | 'caller' | 'binding'>
type SimilarCall = Pick<Proposal, 'tenant' | 'caller' | 'server' | 'tool'>

const root = 'approvals'
/** Later than any ticket. The index holds the time that remains until then, so that the newest ticket sorts first. */
const endOfTime = 1e15
const maxSequence = 9999
/** Sorts by time, then by the sequence within a millisecond. */
const position = (ms: number, sequence: number): string =>
  `${String(Math.max(0, Math.floor(ms))).padStart(16, '0')}-${String(sequence).padStart(4, '0')}`

export function createTicketStore(store: Store, { decideMs, keepMs }: TicketTimes): TicketStore {
  const at = (...parts: readonly string[]): Key => [root, ...parts]
  const boundAt = ({ tenant, caller, binding }: BindingKey): Key => at('bound', tenant, caller.subject, binding)
  const similarAt = ({ tenant, caller, server, tool }: SimilarCall): Key =>
    at('similar', tenant, caller.subject, server, tool)
  const openAt = ({ createdAt, sequence = 0, id }: Proposal): Key => at('open', position(createdAt, sequence), id)
  const allAt = ({ createdAt, sequence = 0, id }: Proposal): Key =>
    at('all', position(endOfTime - createdAt, maxSequence - sequence), id)
  const slotAt = ({ tenant, caller, slot }: Proposal): Key => at('slot', tenant, caller.subject, slot)

  let [lastAt, sequence] = [0, 0]

  /** Frees the slot only if this ticket still holds it, because an expired slot may belong to another ticket. */
  const freeSlot = (proposal: Proposal): Promise<boolean> => store.swap(slotAt(proposal), proposal.id, '', 0)

  return {
    async readProposal(id) {
      const text = await store.get(at('proposal', id))
      return text === undefined ? undefined : parseProposal(text)
    },
    async readState(id) {
      const text = await store.get(at('state', id))
      return text === undefined ? undefined : { state: parseState(text), text }
    },
    findByBinding: (bound) => store.get(boundAt(bound)),
    async add(proposal, from) {
      const { id, tenant, server, tool, expiresAt } = proposal
      const pending: TicketState = { status: 'pending', decisions: [], until: expiresAt }
      const entry = JSON.stringify({ tenant, server, tool })
      let added = false
      try {
        await Promise.all([
          store.set(at('proposal', id), JSON.stringify(proposal), keepMs),
          store.set(at('state', id), JSON.stringify(pending), keepMs),
          store.set(openAt(proposal), entry, decideMs),
          store.set(allAt(proposal), entry, keepMs),
        ])
        added = await store.swap(boundAt(proposal), from, id, keepMs)
        return added
      } finally {
        // Best effort. A ticket that `bound` does not name does not exist, and its keys expire.
        if (!added)
          await Promise.allSettled([
            ...[at('proposal', id), at('state', id), openAt(proposal), allAt(proposal)].map((key) => store.delete(key)),
            freeSlot(proposal),
          ])
      }
    },
    nextSequence(now) {
      sequence = now > lastAt ? 0 : Math.min(sequence + 1, maxSequence)
      lastAt = Math.max(lastAt, now)
      return sequence
    },
    transition: (id, from, to) => store.swap(at('state', id), from.text, JSON.stringify(to), keepMs),
    async takeSlot(tenant, subject, id, max) {
      const taken = await store.list(at('slot', tenant, subject), { limit: max })
      const used = new Set(taken.map(({ key }) => key.at(-1)))
      // Starts at a per-ticket offset so that concurrent calls do not all race for slot 0.
      const from = Number.parseInt(id.slice(0, 8), 16)
      for (let n = 0; n < max && used.size < max; n++) {
        const slot = String((from + n) % max).padStart(4, '0')
        if (used.has(slot)) continue
        if (await store.swap(at('slot', tenant, subject, slot), undefined, id, decideMs)) return slot
        used.add(slot)
      }
      return undefined
    },
    async removeFromPending(proposal) {
      await Promise.all([freeSlot(proposal), store.delete(openAt(proposal))])
    },
    lastApproved: (similar) => store.get(similarAt(similar)),
    setLastApproved: (proposal) => store.set(similarAt(proposal), proposal.id, keepMs),
    async listIndex(which, limit, after) {
      const from = after?.split('.')
      const entries = await store.list(at(which), { limit, ...(from && { after: at(which, ...from) }) })
      return entries.map(({ key, value }) => {
        const { tenant, server, tool } = JSON.parse(value) as Omit<TicketIndexEntry, 'id' | 'cursor'>
        return { id: key.at(-1) ?? '', tenant, server, tool, cursor: key.slice(2).join('.') }
      })
    },
    removeFromOpenIndex: (cursor) => store.delete(at('open', ...cursor.split('.'))),
  }
}

const defaultPageSize = 50
const maxPageSize = 200
/** The maximum number of index entries read for one page if a filter matches few. The next page continues from there. */
const maxScanned = 2000

/** Lists tickets in pages. Pending tickets come first, oldest first; then the others, newest first. */
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
