/**
 * P16 at length: ten thousand gated calls on SQLite, most of them approved and run, and all steps recorded: proposed,
 * decided, spent, started, ended. Then rows are altered and removed, one at a time, and the verifier must name each.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from 'sluice'
import { readAllAudit, verifyAudit } from 'sluice/audit'
import { sqliteStore } from 'sluice/sqlite'
import { openApprovalsFixture, owner, requiredIn } from '../../kit/servers/approvals.fixture.ts'
import type { Soak } from '../soak.ts'

type Row = Awaited<ReturnType<Store['list']>>[number]

const tenant = 'acme'
const tampered = 20

export const run: Soak = async ({ times, random, progress }) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'))
  const store = sqliteStore(join(folder, 'audit.db'))
  const calls = times(10_000)
  const approved = await live(store, calls, progress)
  const seen = await kindsIn(store)
  const lost: string[] = []
  const expected = { proposed: calls, decided: calls, spent: approved, started: approved, ended: 2 * calls }
  for (const [kind, count] of Object.entries(expected))
    if ((seen.get(kind) ?? 0) !== count) lost.push(`${seen.get(kind) ?? 0} records say ${kind}, and ${count} should`)
  const whole = await verifyAudit(store, tenant)
  if (!whole.intact) lost.push(`It was not changed, and the verifier says ${JSON.stringify(whole)}`)
  lost.push(...(await tamper(store, times(tampered), random)))
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  const records = [...seen.values()].reduce((sum, count) => sum + count, 0)
  return {
    counted: { calls, 'of them approved and run': approved, records, 'rows tampered with': 2 * times(tampered) },
    lost,
  }
}

/** Every fifth call is denied. Returns the number of approved ones. */
async function live(store: Store, calls: number, say: (line: string) => void): Promise<number> {
  const { call, approvals, server } = await openApprovalsFixture({}, { store, audited: true })
  let approved = 0
  for (let amount = 0; amount < calls; amount++) {
    const { request_id: id } = requiredIn(await call('pay', { amount }))
    const isYes = amount % 5 !== 0
    await approvals.decide(id, { approved: isYes }, owner)
    await call('pay', { amount })
    if (isYes) approved++
    if (amount % 1000 === 0) say(`approval-audit: ${amount} calls`)
  }
  await server.close()
  return approved
}

async function kindsIn(store: Store): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for await (const { record } of readAllAudit(store, tenant)) {
    const kind = String(record['kind'])
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** Alters and then removes random rows, and restores each. Returns undetected changes as sentences. */
async function tamper(store: Store, count: number, random: () => number): Promise<readonly string[]> {
  const rows: Row[] = []
  for (let after: Row['key'] | undefined; ; after = rows.at(-1)?.key) {
    const page = await store.list(['audit', 'rows', tenant], { limit: 1000, ...(after && { after }) })
    rows.push(...page)
    if (page.length < 1000) break
  }
  const unnoticed: string[] = []
  async function look(what: string, { key, value }: Row): Promise<void> {
    const found = await verifyAudit(store, tenant)
    const seq = Number(key.at(-1))
    if (found.intact || found.seq < seq || found.seq >= seq + value.split('\n').length)
      unnoticed.push(`${what} at ${seq}: ${JSON.stringify(found)}`)
    await store.set(key, value)
  }
  for (let tried = 0; tried < count; tried++) {
    const row = rows[Math.floor(random() * rows.length)]
    if (!row) break
    const at = 66 + Math.floor(random() * 20)
    await store.set(row.key, `${row.value.slice(0, at)}${row.value[at] === 'x' ? 'y' : 'x'}${row.value.slice(at + 1)}`)
    await look('altered', row)
    await store.delete(row.key)
    await look('missing', row)
  }
  return unnoticed
}
