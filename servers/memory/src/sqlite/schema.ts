/**
 * The tables of a memory file, and the additional tables of each workspace.
 *
 * Each workspace has its own tables for words and vectors. So a search costs what its own workspace costs, its weights
 * come from its own words, and no query can reach another workspace. The table of words stores no text (`content=''`):
 * the text is stored once, in `memories`, and a chunk is a range of it.
 */

/** "SlMe" */
export const applicationId = 0x536c4d65

export const migrations: readonly string[] = [
  `PRAGMA application_id = ${applicationId};
   CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE workspaces (
     n INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, id TEXT NOT NULL,
     name TEXT NOT NULL, description TEXT NOT NULL, created INTEGER NOT NULL,
     memories INTEGER NOT NULL DEFAULT 0, chunks INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
     UNIQUE (tenant, id));
   CREATE TABLE memories (
     n INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, id BLOB NOT NULL, at INTEGER NOT NULL,
     source TEXT, tags TEXT, metadata TEXT, text TEXT NOT NULL);
   CREATE UNIQUE INDEX memories_id ON memories (workspace, id);
   CREATE INDEX memories_at ON memories (workspace, at);
   CREATE TABLE tags (
     workspace INTEGER NOT NULL, tag TEXT NOT NULL, memory INTEGER NOT NULL,
     PRIMARY KEY (workspace, tag, memory)) WITHOUT ROWID;
   CREATE TABLE chunks (
     n INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
     embedded INTEGER NOT NULL DEFAULT 0 /* 1: has a vector; 2: the service would not take it */);
   CREATE INDEX chunks_memory ON chunks (memory);
   CREATE INDEX chunks_unembedded ON chunks (n) WHERE embedded = 0;
   CREATE TABLE entities (
     n INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, id BLOB NOT NULL, folded TEXT NOT NULL,
     name TEXT NOT NULL, type TEXT NOT NULL, UNIQUE (workspace, folded));
   CREATE TABLE relations (
     n INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, source INTEGER NOT NULL, type TEXT NOT NULL,
     target INTEGER NOT NULL, confidence REAL NOT NULL, UNIQUE (workspace, source, type, target));
   CREATE INDEX relations_target ON relations (workspace, target);`,
]

export const wordsTable = (workspace: number): string => `words_${workspace}`
export const vectorsTable = (workspace: number): string => `vectors_${workspace}`

export const createWords = (workspace: number): string =>
  `CREATE VIRTUAL TABLE ${wordsTable(workspace)} USING fts5(
     text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')`

/** One byte per number: a quarter of the size, without a visible difference in the ranking. */
export const createVectors = (workspace: number, length: number): string =>
  `CREATE VIRTUAL TABLE IF NOT EXISTS ${vectorsTable(workspace)} USING vec0(
     piece INTEGER PRIMARY KEY, vector int8[${length}] distance_metric=cosine)`

/** For rows of `memories m` in the workspace `:workspace`. A missing filter is NULL and passes everything. */
export const matchesFilters = `(:source IS NULL OR m.source = :source)
  AND (:from IS NULL OR m.at >= :from) AND (:to IS NULL OR m.at <= :to)
  AND (:tags IS NULL OR EXISTS (
    SELECT 1 FROM tags t WHERE t.workspace = :workspace AND t.memory = m.n
      AND t.tag IN (SELECT value FROM json_each(:tags))))`
