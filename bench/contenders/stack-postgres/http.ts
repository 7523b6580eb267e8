/** The full stack with audit on the PostgreSQL that `BENCH_POSTGRES` names. */
import { audit } from 'sluice'
import { postgresStore } from 'sluice/postgres'
import { serveFull } from '../sluice-full/serve.ts'

await serveFull({ store: postgresStore({ url: process.env['BENCH_POSTGRES'] ?? '' }), plugins: [audit()] })
