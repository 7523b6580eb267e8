/**
 * Traffic of the servers of this process, for the Live page: the last requests, and the last five minutes by the second.
 * It uses a fixed amount of memory: a ring of requests and a bounded number of cells per second.
 */

import type { Clock, LogLine } from 'sluice'
import type { EndedCall } from 'sluice/extend'
import { clientOf } from 'sluice/extend'
import { bugFields, callerOf, getOrCreate, messageOf, tenantOf } from 'sluice/internal'
import type { RecentRequest, SecondStats } from '../api/index.ts'
import type { Latencies } from './latencies.ts'
import { newLatencies, percentile, recordLatency } from './latencies.ts'
import type { CallPath } from './layer-times.ts'

export interface LiveFilter {
  readonly server?: string
  readonly tenant?: string
  readonly tool?: string
  readonly outcome?: 'ok' | 'failed' | 'shed'
  /** The tenants that may be seen. Empty means all. */
  readonly tenants?: readonly string[]
}

export interface CallTotals {
  readonly calls: number
  readonly errors: number
}

export interface LiveStats {
  recordCall(server: string, event: EndedCall, path?: CallPath): void
  /** Records a message that never became a call. */
  recordRejection(server: string, line: LogLine): void
  /** Returns the newest requests after `seq`, at most `limit`, newest last. `missed` is the number of others. */
  requestsSince(
    seq: number,
    filter: LiveFilter,
    limit: number,
  ): { readonly requests: readonly RecentRequest[]; readonly missed: number }
  readonly seq: number
  /** Returns the completed seconds after `from`, oldest first. */
  seconds(filter: LiveFilter, from?: number): readonly SecondStats[]
  /** Returns the usage of the last `seconds`, by tenant. */
  tenants(seconds: number): ReadonlyMap<string, TenantUsage>
  /** Returns the traffic of some seconds by server and tenant. `from` is in seconds since the epoch. */
  trafficOf(from: number, seconds: number): ReadonlyMap<string, ReadonlyMap<string, Traffic>>
  /** Returns the calls and errors since the start. */
  totals(server: string, tool: string, tenants: readonly string[]): CallTotals
}

export interface TenantUsage {
  readonly servers: ReadonlySet<string>
  readonly calls: number
  readonly errors: number
  readonly limited: number
  readonly p95: number | undefined
}

export interface Traffic {
  calls: number
  errors: number
  /** Refused by limits or load. */
  shed: number
  /** Answered with a wait for a person. */
  waiting: number
  readonly latencies: Latencies
}

interface Cell extends Traffic {
  readonly server: string
  readonly tenant: string
  readonly tool: string
}
interface SecondSlot {
  at: number
  /** By server, tenant and tool. Nested, because a joined key per call would cost more than the counting itself. */
  cells: Map<string, Map<string, Map<string, Cell>>>
  count: number
}

const historySeconds = 300
const maxRequests = 2_000
/** The maximum number of cells per second. Further calls are counted together, under the empty tenant. */
const maxCells = 64
const maxTenants = 1_000

const shedReasons: ReadonlySet<string> = new Set(['rateLimited', 'overloaded', 'shuttingDown'])
const waitingOutcomes: ReadonlySet<string> = new Set(['approval_required', 'input_required'])

export function createLiveStats(clock: Clock): LiveStats {
  const ring: (RecentRequest | undefined)[] = new Array<RecentRequest | undefined>(maxRequests).fill(undefined)
  const slots = Array.from({ length: historySeconds + 1 }, (): SecondSlot => ({ at: -1, cells: new Map(), count: 0 }))
  const totals = new Map<string, Map<string, Map<string, { calls: number; errors: number }>>>()
  let seq = 0

  function slotNow(): SecondSlot {
    const at = Math.floor(clock.now() / 1000)
    const slot = slots[at % slots.length] as SecondSlot
    if (slot.at !== at) Object.assign(slot, { at, cells: new Map(), count: 0 })
    return slot
  }
  function cellOf(slot: SecondSlot, server: string, tenant: string, tool: string): Cell {
    const byTenant = getOrCreate(slot.cells, server, () => new Map<string, Map<string, Cell>>())
    const known = byTenant.get(tenant)?.get(tool)
    if (known) return known
    const full = slot.count >= maxCells
    const [cellTenant, cellTool] = full ? ['', ''] : [tenant, tool]
    const byTool = getOrCreate(byTenant, cellTenant, () => new Map<string, Cell>())
    return getOrCreate(byTool, cellTool, () => {
      slot.count++
      return { server, tenant: cellTenant, tool: cellTool, ...emptyTraffic() }
    })
  }
  function count(server: string, tenant: string, tool: string, failed: boolean): void {
    const byTenant = getOrCreate(
      getOrCreate(totals, server, () => new Map()),
      tool,
      () => new Map<string, { calls: number; errors: number }>(),
    )
    const countedTenant = byTenant.has(tenant) || byTenant.size < maxTenants ? tenant : ''
    const total = getOrCreate(byTenant, countedTenant, () => ({ calls: 0, errors: 0 }))
    total.calls++
    if (failed) total.errors++
  }
  function addRequest(request: Omit<RecentRequest, 'seq'>): void {
    ring[seq % maxRequests] = { seq: seq + 1, ...request }
    seq++
  }
  function* cellsOf(slot: SecondSlot, { server, tenant, tool, tenants = [] }: LiveFilter): Iterable<Cell> {
    for (const [ofServer, byTenant] of slot.cells) {
      if (server !== undefined && server !== ofServer) continue
      for (const [ofTenant, byTool] of byTenant) {
        if (tenant !== undefined && tenant !== ofTenant) continue
        if (tenants.length > 0 && !tenants.includes(ofTenant)) continue
        for (const [ofTool, cell] of byTool) if (tool === undefined || tool === ofTool) yield cell
      }
    }
  }
  const slotAt = (at: number): SecondSlot | undefined => {
    const slot = slots[at % slots.length]
    return slot?.at === at ? slot : undefined
  }

  return {
    recordCall(server, event, path) {
      const { call, outcome, failed, receivedAt, durationMs, thrown } = event
      const { target, method, via, facts } = call
      const tenant = tenantOf(call)
      const tool = target.kind === 'method' ? '' : target.name
      const isShed = shedReasons.has(outcome)
      const cell = cellOf(slotNow(), server, tenant, tool)
      cell.calls++
      if (failed) cell.errors++
      if (isShed) cell.shed++
      if (waitingOutcomes.has(outcome)) cell.waiting++
      recordLatency(cell.latencies, durationMs)
      if (tool !== '') count(server, tenant, tool, failed)
      const client = clientOf(call).name
      const message = failed && thrown !== undefined ? failureMessage(event) : undefined
      addRequest({
        at: receivedAt,
        ...{ server, tenant, caller: callerOf(call), method, outcome, failed, durationMs, transport: via.transport },
        ...(client !== undefined && { client }),
        ...(tool !== '' && { tool }),
        ...(typeof facts['ticket'] === 'string' && { ticket: facts['ticket'] }),
        ...(facts.reference !== undefined && { reference: facts.reference }),
        ...(message !== undefined && { message }),
        ...path,
      })
    },
    recordRejection(server, line) {
      const reason = String(line['reason'])
      const cell = cellOf(slotNow(), server, '', '')
      cell.calls++
      cell.errors++
      if (shedReasons.has(reason)) cell.shed++
      addRequest({
        at: clock.now(),
        ...{ server, tenant: '', caller: '', method: '', outcome: reason, failed: true, durationMs: 0 },
        transport: String(line['transport'] ?? ''),
        ...(line['reference'] !== undefined && { reference: String(line['reference']) }),
        message: String(line['message'] ?? '').slice(0, 300),
      })
    },
    requestsSince(from, filter, limit) {
      const requests: RecentRequest[] = []
      let missed = 0
      for (let at = seq; at > Math.max(from, seq - maxRequests); at--) {
        const request = ring[(at - 1) % maxRequests]
        if (!request || !matchesFilter(request, filter)) continue
        if (requests.length < limit) requests.push(request)
        else missed++
      }
      return { requests: requests.reverse(), missed }
    },
    get seq() {
      return seq
    },
    seconds(filter, from = 0) {
      const now = Math.floor(clock.now() / 1000)
      const found: SecondStats[] = []
      for (let at = Math.max(from + 1, now - historySeconds); at < now; at++) {
        const slot = slotAt(at)
        found.push(secondOf(at, slot ? cellsOf(slot, filter) : []))
      }
      return found
    },
    tenants(seconds) {
      const now = Math.floor(clock.now() / 1000)
      const found = new Map<string, Cell[]>()
      for (let at = now - seconds; at <= now; at++) {
        const slot = slotAt(at)
        if (slot) for (const cell of cellsOf(slot, {})) getOrCreate(found, cell.tenant, () => []).push(cell)
      }
      return new Map([...found].map(([tenant, cells]) => [tenant, usageOf(cells)]))
    },
    trafficOf(from, seconds) {
      const found = new Map<string, Map<string, Cell[]>>()
      for (let at = from; at < from + seconds; at++)
        for (const cell of cellsOf(slotAt(at) ?? emptySlot, {}))
          getOrCreate(
            getOrCreate(found, cell.server, () => new Map<string, Cell[]>()),
            cell.tenant,
            () => [],
          ).push(cell)
      return new Map(
        [...found].map(([server, byTenant]) => [
          server,
          new Map([...byTenant].map(([tenant, cells]) => [tenant, sumOf(cells)])),
        ]),
      )
    },
    totals(server, tool, tenants) {
      let calls = 0
      let errors = 0
      for (const [tenant, total] of totals.get(server)?.get(tool) ?? []) {
        if (tenants.length > 0 && !tenants.includes(tenant)) continue
        calls += total.calls
        errors += total.errors
      }
      return { calls, errors }
    },
  }
}

/** Returns why a call failed, for operators. Callers are not told why a tool is hidden from them. */
export function failureMessage({ call, outcome, thrown }: EndedCall): string | undefined {
  const { kind, policy } = call.target
  if (outcome === 'unknownTool' && kind === 'tool')
    return policy.scopes.length > 0
      ? `Hidden from this caller: it needs the scope ${policy.scopes.join(' ')}`
      : 'Hidden from this caller: its tenant does not have this tool'
  const bug = bugFields(call, thrown)
  return bug ? `${bug.errorType}: ${bug.errorMessage}`.slice(0, 300) : messageOf(call, thrown)?.slice(0, 300)
}

function matchesFilter(request: RecentRequest, { server, tenant, tool, outcome, tenants = [] }: LiveFilter): boolean {
  if (server !== undefined && request.server !== server) return false
  if (tenant !== undefined && request.tenant !== tenant) return false
  if (tenants.length > 0 && !tenants.includes(request.tenant)) return false
  if (tool !== undefined && request.tool !== tool) return false
  if (outcome === undefined) return true
  return outcome === 'ok' ? !request.failed : outcome === 'failed' ? request.failed : shedReasons.has(request.outcome)
}

function secondOf(at: number, cells: Iterable<Cell>): SecondStats {
  const { calls, errors, shed, latencies } = sumOf(cells)
  const percentiles = calls > 0 && {
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
  }
  return { at: at * 1000, calls, errors, shed, ...percentiles }
}

function usageOf(cells: readonly Cell[]): TenantUsage {
  const { calls, errors, shed, latencies } = sumOf(cells)
  const p95 = calls > 0 ? percentile(latencies, 0.95) : undefined
  return { servers: new Set(cells.map(({ server }) => server)), calls, errors, limited: shed, p95 }
}

export const emptyTraffic = (): Traffic => ({ calls: 0, errors: 0, shed: 0, waiting: 0, latencies: newLatencies() })
const emptySlot: SecondSlot = { at: -1, cells: new Map(), count: 0 }

function sumOf(cells: Iterable<Cell>): Traffic {
  const sum = emptyTraffic()
  for (const cell of cells) {
    sum.calls += cell.calls
    sum.errors += cell.errors
    sum.shed += cell.shed
    sum.waiting += cell.waiting
    for (const [at, n] of cell.latencies.entries()) sum.latencies[at] = (sum.latencies[at] ?? 0) + n
  }
  return sum
}
