import { postgresBus, postgresStore } from 'sluice/postgres'

const url = process.env['DATABASE_URL'] ?? 'postgresql://sluice@127.0.0.1/sluice'
const [store, bus] = [postgresStore({ url }), postgresBus({ url })]

// Both connect on first use: hand them to `createServer` as `store` and `bus`, and close them after the last call.
await Promise.all([store.close(), bus.close()])
