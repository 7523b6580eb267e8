/**
 * SQL that both databases understand. Every key starts with the tenant, so a query without one could not use an index.
 * No such query exists.
 */

export const tables = `
  CREATE TABLE IF NOT EXISTS activities (
    tenant TEXT NOT NULL, id TEXT NOT NULL, provider TEXT NOT NULL, fingerprint TEXT NOT NULL, sport TEXT NOT NULL,
    name TEXT NOT NULL, started_at BIGINT NOT NULL, duration_s DOUBLE PRECISION NOT NULL,
    distance_m DOUBLE PRECISION NOT NULL, elevation_m DOUBLE PRECISION NOT NULL, average_hr DOUBLE PRECISION,
    max_hr DOUBLE PRECISION, average_power DOUBLE PRECISION, calories DOUBLE PRECISION,
    PRIMARY KEY (tenant, id), UNIQUE (tenant, fingerprint)
  );
  CREATE INDEX IF NOT EXISTS activities_by_time ON activities (tenant, started_at);
  CREATE TABLE IF NOT EXISTS athletes (tenant TEXT PRIMARY KEY, json TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS goals (tenant TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (tenant, id));
  CREATE TABLE IF NOT EXISTS connections (
    tenant TEXT NOT NULL, provider TEXT NOT NULL, sealed TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (tenant, provider)
  );
  CREATE TABLE IF NOT EXISTS active (tenant TEXT NOT NULL, subject TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (tenant, subject));
`

/** The third migration: nights, with sleep and what was measured in it. */
export const nightTables = `
  CREATE TABLE IF NOT EXISTS nights (
    tenant TEXT NOT NULL, day TEXT NOT NULL, provider TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (tenant, day)
  );
`

/** The second migration: the synced range of a provider, and sign-ins that wait for their code. */
export const moreTables = `
  CREATE TABLE IF NOT EXISTS syncs (tenant TEXT NOT NULL, provider TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (tenant, provider));
  CREATE TABLE IF NOT EXISTS pending (tenant TEXT NOT NULL, subject TEXT NOT NULL, sealed TEXT NOT NULL, PRIMARY KEY (tenant, subject));
`
