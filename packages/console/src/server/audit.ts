/** Exports and verifies the audit log for operators. */

import type { ServerResponse } from 'node:http'
import type { Clock } from 'sluice'
import { RpcError } from 'sluice'
import { readAllAudit, verifyAudit } from 'sluice/audit'
import { createPacer } from 'sluice/internal'
import type { AuditCheckResult, Operator } from '../api/index.ts'
import type { ConsoleState } from './console-state.ts'

/** Throws if the operator may not see the tenant. */
export function assertTenantVisible({ tenants }: Operator, tenant: string): void {
  if (tenants.length > 0 && !tenants.includes(tenant))
    throw new RpcError('forbidden', 'This tenant is not one of yours')
}

export const verifyTenantAudit = ({ audit, store, clock }: ConsoleState, tenant: string): Promise<AuditCheckResult> =>
  audit ? audit.verify(tenant) : verifyAudit(store, tenant, { clock })

/** Streams all records in slices, as fast as the client reads, because a year of records does not fit into memory. */
export async function exportAudit(
  { store, clock }: ConsoleState,
  tenant: string,
  response: ServerResponse,
  headers: { readonly [name: string]: string },
): Promise<void> {
  const name = tenant.replace(/[^\w.-]/g, '_').slice(0, 64)
  const pace = createPacer(clock)
  const entries = readAllAudit(store, tenant)[Symbol.asyncIterator]()
  // Reads before the response begins, so that an unavailable store gets an error status.
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

/** Lines are written together, because one write per line costs more than the line. */
const chunkChars = 64 * 1024

/** A client that reads nothing for this long is cut off, because it would block other exports. */
const stalledMs = 30_000

const waitForDrain = (response: ServerResponse, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed) return resolve()
    const cancelTimer = clock.after(stalledMs, () => response.destroy())
    const finish = (): void => {
      cancelTimer()
      response.off('drain', finish)
      response.off('close', finish)
      resolve()
    }
    response.on('drain', finish)
    response.on('close', finish)
  })
