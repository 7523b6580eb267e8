/** The tests of many-processes.test.ts on gateways that share a PostgreSQL. */

import '../fleet/use-postgres.ts'
import './many-processes.test.ts'
