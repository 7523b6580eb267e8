/** The tests of restarts.test.ts on a fleet that shares a PostgreSQL. */

import './use-postgres.ts'
import './restarts.test.ts'
