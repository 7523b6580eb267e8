/** The tests of sessions.test.ts on a fleet that shares a PostgreSQL. */

import './use-postgres.ts'
import './sessions.test.ts'
