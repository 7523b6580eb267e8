/** The full stack with audit on the Redis that `BENCH_REDIS` names. */
import { audit } from 'sluice'
import { redisStore } from 'sluice/redis'
import { serveFull } from '../sluice-full/serve.ts'

await serveFull({ store: redisStore({ url: process.env['BENCH_REDIS'] ?? '' }), plugins: [audit()] })
