import { createServer } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { server } from './server.ts'

export default { fetch: toFetch(createServer(server), { hosts: ['localhost:8080', '127.0.0.1:8080'] }) }
