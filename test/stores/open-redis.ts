/** How another process opens the Redis of a test. */

import type { RedisStore } from '../../packages/sluice/src/stores/redis.ts'
import { redisStore } from '../../packages/sluice/src/stores/redis.ts'

export const open = (argument: string): RedisStore => redisStore(JSON.parse(argument))
