/** Real servers on one store, as processes that can die at any access to it, and a store that can fail at any. */

import type { Params, Server, Store } from 'sluice'
import { defineServer, RpcError, tool } from 'sluice'
import type { Approvals, Decider } from 'sluice/approvals'
import { approvalArguments, createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { idempotency } from 'sluice/plugins'
import type { FakeClock } from 'sluice/testing'
import { z } from 'zod'
import { decideMs, runMs, timeoutMs } from './ticket-model.ts'

/** At the n-th access of the next command. `after` means that the access itself still took place. */
export interface Fault {
  readonly kind: 'crash' | 'fails once' | 'fails from then on'
  readonly access: number
  readonly after: boolean
}
export interface ModelWorld {
  readonly clock: FakeClock
  readonly store: Store
  /** What the tool acts on now. */
  effect: number
  /** The keys that the tool ran for. */
  readonly ran: number[]
  /**
   * Resolves when an access to the store may take place, with a function to call after it, so that a test decides the
   * order.
   */
  turn?(): Promise<() => void>
}
export interface Process {
  readonly approvals: Approvals
  readonly isDead: boolean
  /** Whether the fault of the last command took place. */
  readonly wasHit: boolean
  call(key: number, more?: Params): Promise<Params>
  /** Runs a command with a fault in it; 'died' if the process died in the meantime. */
  during<T>(fault: Fault | undefined, work: () => Promise<T>): Promise<T | 'died'>
  close(): Promise<void>
}

export const operator: Decider = { subject: 'olga', via: 'command', tenants: 'all', operator: true }

export function startProcess(world: ModelWorld): Process {
  const { clock } = world
  let fault: Fault | undefined
  let accesses = 0
  let dead = false
  let wasHit = false
  const died = Promise.withResolvers<'died'>()

  async function access<T>(work: () => Promise<T>): Promise<T> {
    const done = await world.turn?.()
    const outcome = await perform(work).finally(done)
    // A dead process never gets a reply.
    return 'value' in outcome ? outcome.value : new Promise(() => {})
  }
  async function perform<T>(work: () => Promise<T>): Promise<{ readonly value: T } | Record<never, never>> {
    if (dead) return {}
    const isNow =
      fault && ++accesses >= fault.access && (fault.kind === 'fails from then on' || accesses === fault.access)
    if (!fault || !isNow) return { value: await work() }
    const { kind, after } = fault
    wasHit = true
    if (kind === 'crash') dead = true
    if (after) await work()
    if (kind !== 'crash') throw new RpcError('storeUnavailable', 'The store is away')
    died.resolve('died')
    return {}
  }
  const { store } = world
  const faulty: Store = {
    get: (key) => access(() => store.get(key)),
    set: (...args) => access(() => store.set(...args)),
    swap: (...args) => access(() => store.swap(...args)),
    delete: (key) => access(() => store.delete(key)),
    take: (...args) => access(() => store.take(...args)),
    append: (...args) => access(() => store.append(...args)),
    list: (...args) => access(() => store.list(...args)),
  }
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ key: z.number() }),
    approval: 'always',
    approvalArguments,
    effect: () => ({ Account: world.effect }),
    timeoutMs,
    run({ key }) {
      if (dead) return new Promise<string>(() => {})
      world.ran.push(key)
      return `paid ${key}`
    },
  })
  const approvals = createApprovals({
    store: faulty,
    clock,
    decideMs,
    runMs,
    maxPending: 10_000,
    grants: { maxMs: 24 * 3_600_000 },
  })
  const server: Server = createServer(defineServer({ name: 'till', version: '1', tools: [pay] }), {
    store: faulty,
    clock,
    secret: 'a secret that all processes share',
    use: [approvals, idempotency()],
  })
  let ids = 0
  return {
    approvals,
    get isDead() {
      return dead
    },
    get wasHit() {
      return wasHit
    },
    async call(key, more = {}) {
      const params = { name: 'pay', arguments: { key, ...more } }
      return { ...(await server.handle({ jsonrpc: '2.0', id: ++ids, method: 'tools/call', params })) }
    },
    async during(next, work) {
      fault = next
      accesses = 0
      wasHit = false
      try {
        return await Promise.race([work(), died.promise])
      } finally {
        fault = undefined
      }
    },
    async close() {
      if (!dead) await server.close()
      dead = true
    },
  }
}

/** The answer of a call in the model's terms; any other answer is returned unchanged, and no model expects it. */
export function observedIn({ error, result }: Params): string {
  const { reason, state } = (error as { data?: { reason?: string; state?: string } } | undefined)?.data ?? {}
  if (reason !== undefined) return reason === 'conflict' ? (state ?? 'conflict') : reason
  const { content, _meta } = result as {
    content: readonly { text: string }[]
    _meta?: { 'dev.sluice/error'?: { reason: string } }
  }
  const refused = _meta?.['dev.sluice/error']?.reason
  if (refused !== undefined) return { approvalDenied: 'denied', approvalVoid: 'void' }[refused] ?? refused
  return content[0]?.text.startsWith('paid') ? 'ran' : 'required'
}

/** The ticket in the answer of a call. */
export function requestIn({ result }: Params): string | undefined {
  const text = (result as { content?: readonly { text: string }[] } | undefined)?.content?.[0]?.text ?? ''
  return text.startsWith('{') ? (JSON.parse(text) as { request_id?: string }).request_id : undefined
}
