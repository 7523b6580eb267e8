/** The audit for people: looking for something in it, taking it away, and whether it is whole. */

import type { ServerResponse } from 'node:http'
import { RpcError } from '../../core/error.ts'
import type { AuditEntry } from '../../observe/chain-read.ts'
import { allAudit, readAudit } from '../../observe/chain-read.ts'
import { verifyAudit } from '../../observe/chain-verify.ts'
import type { AuditRecord, Input, Operator, Output, Verdict } from './api.ts'
import type { Panel } from './panel.ts'

const shown = 50
const perWindow = 500
/** Looked through for one question; the page goes on from there if it is asked to. */
const maxScanned = 5_000

/** To who may not see a tenant it is as if it were not there. */
export function refuseTenant({ tenants }: Operator, tenant: string): void {
  if (tenants.length > 0 && !tenants.includes(tenant)) throw new RpcError('forbidden', 'This tenant is not among yours')
}

export async function searchAudit({ store }: Panel, input: Input<'listAudit'>): Promise<Output<'listAudit'>> {
  const { tenant, text = '' } = input
  const wanted = text.toLowerCase()
  const records: AuditRecord[] = []
  let before = input.before
  let scanned = 0
  while (scanned < maxScanned) {
    const window = await readAudit(store, tenant, { before, limit: wanted === '' ? shown : perWindow })
    for (const entry of window.entries) {
      if (records.length >= shown) return { records, scanned, before: (records.at(-1) as AuditRecord).seq }
      scanned++
      if (wanted === '' || JSON.stringify(entry.record).toLowerCase().includes(wanted)) records.push(toRecord(entry))
    }
    before = window.before
    if (before === undefined) return { records, scanned }
    if (records.length >= shown) break
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

export const judgeAudit = ({ store, clock, servers }: Panel, tenant: string): Promise<Verdict> =>
  verifyAudit(store, tenant, { clock, secrets: () => servers[0]?.secrets() ?? [] })

/** Line by line, as fast as it is read: a year of records does not fit into memory. */
export async function exportAudit(
  { store }: Panel,
  operator: Operator,
  tenant: string,
  response: ServerResponse,
): Promise<void> {
  refuseTenant(operator, tenant)
  const name = tenant.replace(/[^\w.-]/g, '_').slice(0, 64)
  response.setHeader('content-type', 'application/x-ndjson')
  response.setHeader('content-disposition', `attachment; filename="audit-${name}.ndjson"`)
  for await (const { hash, record } of allAudit(store, tenant)) {
    if (response.destroyed) return
    if (!response.write(`${JSON.stringify({ ...record, hash })}\n`)) await drained(response)
  }
  response.end()
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.on('drain', go)
    response.on('close', go)
  })
