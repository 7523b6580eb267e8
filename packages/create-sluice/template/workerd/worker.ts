import { createServer } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { server } from './server.ts'

// The host names that clients use. Requests to other names are refused.
const hosts = ['localhost:8080', '127.0.0.1:8080', 'NAME.example.workers.dev']

export default { fetch: toFetch(createServer(server), { hosts }) }
