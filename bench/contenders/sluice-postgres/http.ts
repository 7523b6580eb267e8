/** The full stack with its limits on a PostgreSQL that `BENCH_POSTGRES` names. */
import { postgresStore } from 'sluice/postgres'
import { serveFull } from '../sluice-full/serve.ts'

await serveFull({ store: postgresStore({ url: process.env['BENCH_POSTGRES'] ?? '' }) })
