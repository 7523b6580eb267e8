/** The full stack with its limits on the Redis that `BENCH_REDIS` names. */
import { redisStore } from 'sluice/redis'
import { serveFull } from '../sluice-full/serve.ts'

await serveFull({ store: redisStore({ url: process.env['BENCH_REDIS'] ?? '' }) })
