/** The tests of layers.test.ts on a PostgreSQL. */

import './use-postgres.ts'
import './layers.test.ts'
