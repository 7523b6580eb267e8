/**
 * Records every tool call: received, then its outcome. Recording must never fail or delay a call, and no row may be
 * lost. While the database cannot be written (locked, full disk), rows go to a file beside it. They move into the
 * database when it is writable again, at the latest at the next start.
 */

import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Call, Clock, Layer, Logger } from 'sluice'
import { RpcError } from 'sluice'
import { clientOf, traceIdOf } from 'sluice/extend'

export interface HistoryRow {
  readonly id: string
  readonly tenant: string
  readonly caller: string
  /** The id of the client's request; clients repeat ids, so it is not a key. */
  readonly requestId: string
  readonly tool: string
  readonly client: string | null
  readonly traceId: string | null
  readonly receivedAt: string
  readonly status: 'RECEIVED' | 'SUCCESS' | 'ERROR'
  readonly durationMs: number | null
}

export interface History {
  readonly layer: Layer
  /** Returns the newest rows first. */
  recent(tenant: string, limit: number): readonly HistoryRow[]
}

const columns = [
  'id',
  'tenant',
  'caller',
  'requestId',
  'tool',
  'client',
  'traceId',
  'receivedAt',
  'status',
  'durationMs',
] as const

export function createHistory(sqlite: DatabaseSync, folder: string, clock: Clock, logger: Logger): History {
  sqlite.exec(`CREATE TABLE IF NOT EXISTS history (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, caller TEXT NOT NULL, requestId TEXT NOT NULL, tool TEXT NOT NULL,
    client TEXT, traceId TEXT, receivedAt TEXT NOT NULL, status TEXT NOT NULL, durationMs INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS history_by_tenant ON history (tenant, receivedAt DESC)`)
  const put = sqlite.prepare(
    `INSERT OR REPLACE INTO history (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const newest = sqlite.prepare('SELECT * FROM history WHERE tenant = ? ORDER BY receivedAt DESC, rowid DESC LIMIT ?')
  const aside = join(folder, 'history.waiting.jsonl')
  let waiting = existsSync(aside)

  const insert = (row: HistoryRow): void => {
    put.run(...columns.map((column) => row[column]))
  }
  function write(row: HistoryRow): void {
    try {
      if (waiting) takeUp()
      insert(row)
    } catch (thrown) {
      setAside(row, thrown)
    }
  }
  function setAside(row: HistoryRow, why: unknown): void {
    try {
      appendFileSync(aside, `${JSON.stringify(row)}\n`, { mode: 0o600 })
      if (!waiting) logger.warn({ event: 'history.waiting', why: String(why), file: aside })
      waiting = true
    } catch (thrown) {
      logger.error({ event: 'history.lost', why: String(thrown), row: row.id })
    }
  }
  /** Moves all rows or none; a row that is moved twice after a crash stays one row. */
  function takeUp(): void {
    const rows = readFileSync(aside, 'utf8').split('\n').flatMap(parseRow)
    sqlite.exec('BEGIN IMMEDIATE')
    try {
      for (const row of rows) insert(row)
      sqlite.exec('COMMIT')
    } catch (thrown) {
      sqlite.exec('ROLLBACK')
      throw thrown
    }
    rmSync(aside)
    waiting = false
  }
  return {
    recent: (tenant, limit) => newest.all(tenant, limit) as unknown as readonly HistoryRow[],
    layer: (next) =>
      async function history(call) {
        if (call.target.kind !== 'tool') return next(call)
        const row = rowOf(call, clock)
        write(row)
        const end = (status: 'SUCCESS' | 'ERROR'): void =>
          write({ ...row, status, durationMs: Math.round(clock.now() - Date.parse(row.receivedAt)) })
        try {
          const answer = await next(call)
          end('isError' in answer && answer.isError ? 'ERROR' : 'SUCCESS')
          return answer
        } catch (thrown) {
          // An elicitation is not an error; the call comes back.
          if (!(thrown instanceof RpcError) || thrown.reason !== 'cancelled') end('ERROR')
          throw thrown
        }
      },
  }
}

const rowOf = (call: Call, clock: Clock): HistoryRow => ({
  id: randomUUID(),
  tenant: call.tenant.id,
  caller: call.caller.subject,
  requestId: String(call.id),
  tool: call.target.name,
  client: clientOf(call).name ?? null,
  traceId: traceIdOf(call) ?? null,
  receivedAt: new Date(clock.now()).toISOString(),
  status: 'RECEIVED',
  durationMs: null,
})

/** Skips a line that a crash cut short, the only damage the file can have. */
function parseRow(line: string): HistoryRow[] {
  try {
    return line === '' ? [] : [JSON.parse(line) as HistoryRow]
  } catch {
    return []
  }
}
