/**
 * Where tickets lie in a store, and which of their keys is the truth.
 *
 * `bound` makes a ticket exist: it is written last, when everything else is there. `state` is the one value that is
 * swapped, and it says itself until when it stands. Everything else is a hint that may be missing or left over: the two
 * indexes, a caller's slots, the last ticket like this one. docs/approvals.md has the invariants.
 */

import type { Key, Store } from '../core/store.ts'
import type { Proposal, TicketState } from './ticket.ts'
import { parseProposal, parseState } from './ticket.ts'

export interface TicketTimes {
  /** How long a person has to decide, and how long a denial holds. */
  readonly decideMs: number
  /** How long the caller has to run what was approved. */
  readonly runMs: number
  /** How long a ticket can be looked up. Its arguments are kept for as long. */
  readonly keepMs: number
}

export interface VersionedState {
  readonly state: TicketState
  /** What a swap must find. */
  readonly text: string
}

export interface TicketIndexEntry {
  readonly id: string
  readonly tenant: string
  readonly server: string
  readonly tool: string
  /** Where the next page begins. */
  readonly cursor: string
}

export interface TicketStore {
  readProposal(id: string): Promise<Proposal | undefined>
  readState(id: string): Promise<VersionedState | undefined>
  /** The id of the newest ticket for exactly this. */
  findByBinding(proposal: BindingKey): Promise<string | undefined>
  /** Puts a ticket where `from` was the newest for this; false, and nothing is left behind, where another was quicker. */
  add(proposal: Proposal, from: string | undefined): Promise<boolean>
  /** The one atomic step of a ticket's life: false where its state is no longer `from`. */
  transition(id: string, from: VersionedState, to: TicketState): Promise<boolean>
  /** One of the caller's places for undecided tickets; `undefined` when all are taken. */
  takeSlot(tenant: string, subject: string, id: string, max: number): Promise<string | undefined>
  /** What an undecided ticket holds, given back. */
  removeFromPending(proposal: Proposal): Promise<void>
  /** The last approved ticket of a caller for a tool. */
  lastApproved(proposal: SimilarCall): Promise<string | undefined>
  setLastApproved(proposal: Proposal): Promise<void>
  /** `open`: undecided tickets, oldest first. `all`: newest first. */
  listIndex(which: 'open' | 'all', limit: number, after?: string): Promise<readonly TicketIndexEntry[]>
  removeFromOpenIndex(at: string): Promise<void>
}
type BindingKey = Pick<Proposal, 'tenant' | 'caller' | 'binding'>
type SimilarCall = Pick<Proposal, 'tenant' | 'caller' | 'server' | 'tool'>

const root = 'approvals'
/** Later than any ticket: what is left of it counts down, so that the newest sorts first. */
const endOfTime = 1e15
const padded = (ms: number): string => String(Math.max(0, Math.floor(ms))).padStart(16, '0')

export function createTicketStore(store: Store, { decideMs, keepMs }: TicketTimes): TicketStore {
  const at = (...parts: readonly string[]): Key => [root, ...parts]
  const boundAt = ({ tenant, caller, binding }: BindingKey): Key => at('bound', tenant, caller.subject, binding)
  const similarAt = ({ tenant, caller, server, tool }: SimilarCall): Key =>
    at('similar', tenant, caller.subject, server, tool)
  const openAt = ({ createdAt, id }: Proposal): Key => at('open', padded(createdAt), id)
  const allAt = ({ createdAt, id }: Proposal): Key => at('all', padded(endOfTime - createdAt), id)
  const slotAt = ({ tenant, caller, slot }: Proposal): Key => at('slot', tenant, caller.subject, slot)

  /** Only while it is this ticket's: after its time it may be another's. */
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
        // Best effort: a ticket that `bound` does not name is none, and its keys end by themselves.
        if (!added)
          await Promise.allSettled([
            ...[at('proposal', id), at('state', id), openAt(proposal), allAt(proposal)].map((key) => store.delete(key)),
            freeSlot(proposal),
          ])
      }
    },
    transition: (id, from, to) => store.swap(at('state', id), from.text, JSON.stringify(to), keepMs),
    async takeSlot(tenant, subject, id, max) {
      const taken = await store.list(at('slot', tenant, subject), { limit: max })
      const used = new Set(taken.map(({ key }) => key.at(-1)))
      // From a place of its own on: calls that come together would all try the first one, then the second, and so on.
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
    lastApproved: (alike) => store.get(similarAt(alike)),
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
