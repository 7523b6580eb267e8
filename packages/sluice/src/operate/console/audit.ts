/** The audit for people: looking for something in it, taking it away, and whether it is whole. */

import type { ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import { createPacer } from '../../core/pacer.ts'
import type { AuditEntry } from '../../observe/chain-read.ts'
import { readAllAudit, readAudit } from '../../observe/chain-read.ts'
import { verifyAudit } from '../../observe/chain-verify.ts'
import type { AuditCheckResult, AuditRecord, Operator, RouteInput, RouteOutput } from './api.ts'
import type { ConsoleState } from './console-state.ts'

const pageSize = 50
const searchWindow = 500
/** Looked through for one question; the page goes on from there if it is asked to. */
const maxScanned = 5_000

/** To who may not see a tenant it is as if it were not there. */
export function assertTenantVisible({ tenants }: Operator, tenant: string): void {
  if (tenants.length > 0 && !tenants.includes(tenant)) throw new RpcError('forbidden', 'This tenant is not among yours')
}

export async function searchAudit(
  { store, clock }: ConsoleState,
  input: RouteInput<'listAudit'>,
): Promise<RouteOutput<'listAudit'>> {
  const { tenant, text = '' } = input
  const wanted = text.toLowerCase()
  const records: AuditRecord[] = []
  let before = input.before
  let scanned = 0
  const pace = createPacer(clock)
  while (scanned < maxScanned) {
    const window = await readAudit(store, tenant, { before, limit: wanted === '' ? pageSize : searchWindow })
    for (const entry of window.entries) {
      if (records.length >= pageSize) return { records, scanned, before: (records.at(-1) as AuditRecord).seq }
      scanned++
      if (wanted === '' || JSON.stringify(entry.record).toLowerCase().includes(wanted)) records.push(toRecord(entry))
    }
    before = window.before
    await pace()
    if (before === undefined) return { records, scanned }
    if (records.length >= pageSize) break
  }
  return { records, scanned, ...(before !== undefined && { before }) }
}

function toRecord({ seq, hash, record: { seq: _, at, kind, ...fields } }: AuditEntry): AuditRecord {
  const shownFields = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return { seq, hash, at: Number(at ?? 0), kind: String(kind ?? '?'), fields: Object.fromEntries(shownFields) }
}

export const verifyTenantAudit = ({ audit, store, clock }: ConsoleState, tenant: string): Promise<AuditCheckResult> =>
  audit ? audit.verify(tenant) : verifyAudit(store, tenant, { clock })

/** As fast as it is read, and in slices: a year of records does not fit into memory, nor into one turn. */
export async function exportAudit(
  { store, clock }: ConsoleState,
  tenant: string,
  response: ServerResponse,
  headers: { readonly [name: string]: string },
): Promise<void> {
  const name = tenant.replace(/[^\w.-]/g, '_').slice(0, 64)
  const pace = createPacer(clock)
  const entries = readAllAudit(store, tenant)[Symbol.asyncIterator]()
  // Read before the answer begins: a store that is unavailable is then refused as such.
  let next = await entries.next()
  response.writeHead(200, {
    ...headers,
    'content-type': 'application/x-ndjson',
    'content-disposition': `attachment; filename="audit-${name}.ndjson"`,
  })
  for (let waiting = ''; !response.destroyed; next = await entries.next()) {
    if (!next.done) {
      const { hash, record } = next.value
      waiting += `${JSON.stringify({ ...record, hash })}\n`
    }
    if (!next.done && waiting.length < chunkChars) continue
    if (!response.write(waiting)) await waitForDrain(response, clock)
    waiting = ''
    if (next.done) {
      response.end()
      return
    }
    await pace()
  }
}

/** Written together: a write per line costs more than the line. */
const chunkChars = 64 * 1024

/** A reader that takes nothing for so long is cut off: it would keep others from reading. */
const stalledMs = 30_000

const waitForDrain = (response: ServerResponse, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed) return resolve()
    const cancelTimer = clock.after(stalledMs, () => response.destroy())
    const go = (): void => {
      cancelTimer()
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.on('drain', go)
    response.on('close', go)
  })
