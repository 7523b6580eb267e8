/**
 * SQL that both databases understand. Every key starts with the tenant, so a query without one could not use an index.
 * No such query exists.
 *
 * Every table has the name of a PostgreSQL schema before it, because most accounts may not create tables in `public`, and
 * other applications have tables of such names there. SQLite leaves it out.
 */
export const schema = 'sluice_fitness'

export const tables = `
  CREATE TABLE IF NOT EXISTS sluice_fitness.activities (
    tenant TEXT NOT NULL, id TEXT NOT NULL, provider TEXT NOT NULL, fingerprint TEXT NOT NULL, sport TEXT NOT NULL,
    name TEXT NOT NULL, started_at BIGINT NOT NULL, duration_s DOUBLE PRECISION NOT NULL,
    distance_m DOUBLE PRECISION NOT NULL, elevation_m DOUBLE PRECISION NOT NULL, average_hr DOUBLE PRECISION,
    max_hr DOUBLE PRECISION, average_power DOUBLE PRECISION, calories DOUBLE PRECISION,
    PRIMARY KEY (tenant, id), UNIQUE (tenant, fingerprint)
  );
  CREATE INDEX IF NOT EXISTS activities_by_time ON sluice_fitness.activities (tenant, started_at);
  CREATE TABLE IF NOT EXISTS sluice_fitness.athletes (tenant TEXT PRIMARY KEY, json TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS sluice_fitness.goals (tenant TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (tenant, id));
  CREATE TABLE IF NOT EXISTS sluice_fitness.connections (
    tenant TEXT NOT NULL, provider TEXT NOT NULL, sealed TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (tenant, provider)
  );
  CREATE TABLE IF NOT EXISTS sluice_fitness.active (tenant TEXT NOT NULL, subject TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (tenant, subject));
`

/** The third migration: nights, with sleep and what was measured in it. */
export const nightTables = `
  CREATE TABLE IF NOT EXISTS sluice_fitness.nights (
    tenant TEXT NOT NULL, day TEXT NOT NULL, provider TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (tenant, day)
  );
`

/** The second migration: the synced range of a provider, and sign-ins that wait for their code. */
export const moreTables = `
  CREATE TABLE IF NOT EXISTS sluice_fitness.syncs (tenant TEXT NOT NULL, provider TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (tenant, provider));
  CREATE TABLE IF NOT EXISTS sluice_fitness.pending (tenant TEXT NOT NULL, subject TEXT NOT NULL, sealed TEXT NOT NULL, PRIMARY KEY (tenant, subject));
`
