/** Memories in one SQLite file, which several processes of one machine may share. */

import { DatabaseSync } from 'node:sqlite'
import { createWriter, openDatabase } from 'sluice/sqlite'
import { getLoadablePath } from 'sqlite-vec'
import type { Archive, Workspace } from '../archive.ts'
import { defaultWorkspace } from '../archive.ts'
import { retryWhenBusy } from './retry.ts'
import { applicationId, createWords, migrations, vectorsTable, wordsTable } from './schema.ts'
import type { DatabaseFile } from './workspace.ts'
import { clearSql, openWorkspace } from './workspace.ts'

/** Workspaces whose statements stay prepared. */
const maxOpenWorkspaces = 200

export function sqliteArchive(path: string, clock: { now(): number }): Archive {
  const extension = vectorExtension()
  const database = openDatabase(path, { applicationId, migrations, ...(extension !== undefined && { extension }) })
  // Deleted content is overwritten if that costs no further write. 32 MB hold the index of a large memory.
  database.exec('PRAGMA secure_delete = FAST; PRAGMA cache_size = -32768')
  const writer = createWriter(database)
  const sql = {
    find: database.prepare('SELECT n FROM workspaces WHERE tenant = ? AND id = ?'),
    create: database.prepare(
      'INSERT INTO workspaces (tenant, id, name, description, created) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING n',
    ),
    list: database.prepare(
      'SELECT id, name, description, created, memories FROM workspaces WHERE tenant = ? ORDER BY n',
    ),
    unembedded: database.prepare(
      `SELECT n, tenant, id FROM workspaces w WHERE EXISTS (
         SELECT 1 FROM chunks c JOIN memories m ON m.n = c.memory WHERE c.embedded = 0 AND m.workspace = w.n)`,
    ),
    fact: database.prepare('SELECT value FROM facts WHERE name = ?'),
    setFact: database.prepare('INSERT INTO facts VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value'),
  }
  // The service may accept by now what it rejected before, so each start asks once more.
  const askAgain = database.prepare('UPDATE chunks SET embedded = 0 WHERE embedded = 2')
  const fact = (name: string): string | undefined => {
    const value = sql.fact.get(name)?.['value']
    return value === undefined ? undefined : String(value)
  }
  const file: DatabaseFile = {
    database,
    writer,
    hasVectors: extension !== undefined,
    vectorLength: () => Number(fact('vector length') ?? 0),
    saveVectorLength: (length) => {
      sql.setFact.run('vector length', String(length))
    },
  }
  const opened = new Map<number, Workspace>()
  function handle(n: number, tenant: string, id: string): Workspace {
    const known = opened.get(n)
    if (known) return known
    if (opened.size >= maxOpenWorkspaces) opened.clear()
    const workspace = openWorkspace(file, n, tenant, id)
    opened.set(n, workspace)
    return workspace
  }
  const find = (tenant: string, id: string): number | undefined => {
    const n = sql.find.get(tenant, id)?.['n']
    return n === undefined ? undefined : Number(n)
  }
  const create = (tenant: string, id: string, name: string, description: string, at: number): boolean => {
    const n = sql.create.get(tenant, id, name, description, at)?.['n']
    if (n === undefined) return false
    database.exec(createWords(Number(n)))
    return true
  }

  return retryWhenBusy<Archive>({
    async workspace(tenant, id) {
      let n = find(tenant, id)
      if (n === undefined && id === defaultWorkspace) {
        await writer.write(() => create(tenant, id, 'Default', '', clock.now()))
        n = find(tenant, id)
      }
      return n === undefined ? undefined : handle(n, tenant, id)
    },
    createWorkspace: (tenant, { id, name, description, createdAt }) =>
      writer.write(() => create(tenant, id, name, description, createdAt)),
    async listWorkspaces(tenant) {
      return sql.list.all(tenant).map((row) => ({
        id: String(row['id']),
        name: String(row['name']),
        description: String(row['description']),
        createdAt: Number(row['created']),
        memories: Number(row['memories']),
      }))
    },
    deleteWorkspace: (tenant, id) =>
      writer.write(() => {
        const n = find(tenant, id)
        if (n === undefined) return false
        opened.delete(n)
        database.exec(`${clearSql(n)} DROP TABLE ${wordsTable(n)}; DELETE FROM workspaces WHERE n = ${n}`)
        if (file.hasVectors) database.exec(`DROP TABLE IF EXISTS ${vectorsTable(n)}`)
        return true
      }),
    async unembedded() {
      return sql.unembedded.all().map((row) => handle(Number(row['n']), String(row['tenant']), String(row['id'])))
    },
    async useVectors(model) {
      if (!file.hasVectors) return false
      const isNew = fact('embedding model') !== model
      await writer.write(() => (isNew ? dropVectors(database, model, sql.setFact) : askAgain.run()))
      return true
    },
    close: () => writer.close(),
  })
}

function dropVectors(database: DatabaseSync, model: string, setFact: ReturnType<DatabaseSync['prepare']>): void {
  for (const { n } of database.prepare('SELECT n FROM workspaces').all())
    database.exec(`DROP TABLE IF EXISTS ${vectorsTable(Number(n))}`)
  database.exec('UPDATE chunks SET embedded = 0 WHERE embedded <> 0')
  setFact.run('vector length', '0')
  setFact.run('embedding model', model)
}

/** Returns `undefined` if sqlite-vec has no build for this platform; everything but vectors works there. */
function vectorExtension(): string | undefined {
  const trial = new DatabaseSync(':memory:', { allowExtension: true })
  try {
    const path = getLoadablePath()
    trial.loadExtension(path)
    return path
  } catch {
    return undefined
  } finally {
    trial.close()
  }
}
