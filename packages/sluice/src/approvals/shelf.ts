/**
 * Where tickets lie in a store. A ticket's state is one value that is only ever swapped, and it lives for as long as its
 * state may stand: when time is up it is gone, by the store's own clock, and no process decides that.
 */

import type { Key, Store } from '../core/store.ts'
import type { Decision, Proposal, State } from './ticket.ts'
import { parseProposal, parseState, rank } from './ticket.ts'

export interface Times {
  /** How long a person has to decide, and how long a denial holds. */
  readonly decideMs: number
  /** How long the caller has to run what was approved. */
  readonly runMs: number
  /** How long a ticket can be looked up. Its arguments are kept for as long. */
  readonly keepMs: number
}

export interface Live {
  readonly state: State
  /** What a swap must find. */
  readonly text: string
}

export interface IndexEntry {
  readonly id: string
  readonly tenant: string
  readonly server: string
  readonly tool: string
  /** Where the next page begins. */
  readonly at: string
}

export interface Shelf {
  proposal(id: string): Promise<Proposal | undefined>
  /** `undefined` when its time is up. */
  live(id: string): Promise<Live | undefined>
  /** What it was when its time was up. */
  last(id: string): Promise<State | undefined>
  /** The id of the newest ticket for exactly this. */
  find(proposal: Bound): Promise<string | undefined>
  /** Puts a ticket where `from` was the newest for this; false, and nothing is left behind, where another was quicker. */
  add(proposal: Proposal, from: string | undefined): Promise<boolean>
  /** The one atomic step of a ticket's life: false where its state is no longer `from`, or its time is up. */
  move(id: string, from: Live, to: State, ttlMs: number): Promise<boolean>
  /** Opens the time in which an approved ticket may run. */
  open(id: string): Promise<void>
  isOpen(id: string): Promise<boolean>
  /** One of the caller's places for undecided tickets; `undefined` when all are taken. */
  takeSlot(tenant: string, subject: string, id: string, max: number): Promise<string | undefined>
  /** What an undecided ticket holds, given back. */
  settle(proposal: Proposal): Promise<void>
  /** One for each subject, counted once. All there are. */
  vote(id: string, decision: Decision): Promise<readonly Decision[]>
  votes(id: string): Promise<readonly Decision[]>
  /** The last approved ticket of a caller for a tool. */
  similar(proposal: Alike): Promise<string | undefined>
  approved(proposal: Proposal): Promise<void>
  /** `open`: undecided tickets, oldest first. `all`: newest first. */
  index(which: 'open' | 'all', limit: number, after?: string): Promise<readonly IndexEntry[]>
  unindex(at: string): Promise<void>
}
type Bound = Pick<Proposal, 'tenant' | 'caller' | 'binding'>
type Alike = Pick<Proposal, 'tenant' | 'caller' | 'server' | 'tool'>

const root = 'approvals'
/** Later than any ticket: what is left of it counts down, so that the newest sorts first. */
const endOfTime = 1e15
const padded = (ms: number): string => String(Math.max(0, Math.floor(ms))).padStart(16, '0')

export function createShelf(store: Store, { decideMs, runMs, keepMs }: Times): Shelf {
  const at = (...parts: readonly string[]): Key => [root, ...parts]
  const boundAt = ({ tenant, caller, binding }: Bound): Key => at('bound', tenant, caller.subject, binding)
  const similarAt = ({ tenant, caller, server, tool }: Alike): Key =>
    at('similar', tenant, caller.subject, server, tool)
  const openAt = ({ createdAt, id }: Proposal): Key => at('open', padded(createdAt), id)
  const allAt = ({ createdAt, id }: Proposal): Key => at('all', padded(endOfTime - createdAt), id)
  const slotAt = ({ tenant, caller, slot }: Proposal): Key => at('slot', tenant, caller.subject, slot)

  /** For when its time is up. Two processes may get here in the wrong order, and the later state stays. */
  async function remember(id: string, state: State): Promise<void> {
    const text = JSON.stringify(state)
    for (let tries = 0; tries < 5; tries++) {
      const before = await store.get(at('last', id))
      if (before !== undefined && rank[parseState(before).status] >= rank[state.status]) return
      if (await store.swap(at('last', id), before, text, keepMs)) return
    }
  }
  /** Only while it is this ticket's: after its time it may be another's. */
  const freeSlot = (proposal: Proposal): Promise<boolean> => store.swap(slotAt(proposal), proposal.id, '', 0)

  async function votes(id: string): Promise<readonly Decision[]> {
    const entries = await store.list(at('vote', id), { limit: 1000 })
    return entries.map(({ value }) => JSON.parse(value) as Decision)
  }

  return {
    async proposal(id) {
      const text = await store.get(at('proposal', id))
      return text === undefined ? undefined : parseProposal(text)
    },
    async live(id) {
      const text = await store.get(at('state', id))
      return text === undefined ? undefined : { state: parseState(text), text }
    },
    async last(id) {
      const text = await store.get(at('last', id))
      return text === undefined ? undefined : parseState(text)
    },
    find: (bound) => store.get(boundAt(bound)),
    async add(proposal, from) {
      const { id, tenant, server, tool } = proposal
      const pending = JSON.stringify({ status: 'pending', decisions: [] } satisfies State)
      const entry = JSON.stringify({ tenant, server, tool })
      await Promise.all([
        store.set(at('proposal', id), JSON.stringify(proposal), keepMs),
        store.set(at('state', id), pending, decideMs),
        store.set(at('last', id), pending, keepMs),
        store.set(openAt(proposal), entry, decideMs),
        store.set(allAt(proposal), entry, keepMs),
      ])
      if (await store.swap(boundAt(proposal), from, id, keepMs)) return true
      await Promise.all([
        ...['proposal', 'state', 'last'].map((kind) => store.delete(at(kind, id))),
        ...[openAt(proposal), allAt(proposal)].map((key) => store.delete(key)),
        freeSlot(proposal),
      ])
      return false
    },
    async move(id, from, to, ttlMs) {
      if (!(await store.swap(at('state', id), from.text, JSON.stringify(to), ttlMs))) return false
      await remember(id, to)
      return true
    },
    open: (id) => store.set(at('window', id), '', runMs),
    isOpen: async (id) => (await store.get(at('window', id))) !== undefined,
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
    async settle(proposal) {
      await Promise.all([freeSlot(proposal), store.delete(openAt(proposal))])
    },
    async vote(id, decision) {
      await store.swap(at('vote', id, decision.by), undefined, JSON.stringify(decision), keepMs)
      return votes(id)
    },
    votes,
    similar: (alike) => store.get(similarAt(alike)),
    approved: (proposal) => store.set(similarAt(proposal), proposal.id, keepMs),
    async index(which, limit, after) {
      const from = after?.split('.')
      const entries = await store.list(at(which), { limit, ...(from && { after: at(which, ...from) }) })
      return entries.map(({ key, value }) => {
        const { tenant, server, tool } = JSON.parse(value) as Omit<IndexEntry, 'id' | 'at'>
        return { id: key.at(-1) ?? '', tenant, server, tool, at: key.slice(2).join('.') }
      })
    },
    unindex: (place) => store.delete(at('open', ...place.split('.'))),
  }
}
