/** Brings a schema up to date with the steps of postgres-migrations.test.ts, which started it. */

import { createConnection } from '../../packages/sluice/src/stores/postgres-connection.ts'
import { migrate } from '../../packages/sluice/src/stores/postgres-schema.ts'
import { stepsOf } from './migrate-postgres-steps.ts'

const [, , url = '', schema = ''] = process.argv
const { connection, connect } = createConnection({ url, application: 'migration', statementMs: 60_000, closed() {} })
await connect()
await migrate(connection, schema, stepsOf(schema))
await connection.end()
