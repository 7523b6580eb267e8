/** How another process opens the PostgreSQL of a test. */

import type { PostgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { postgresStore } from '../../packages/sluice/src/stores/postgres.ts'

export const open = (argument: string): PostgresStore => postgresStore(JSON.parse(argument))
