import { createServer } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { bunSockets, websocket } from 'sluice/websocket-edge'
import { hello } from '../hello.ts'

const server = createServer(hello)

export default {
  fetch: toFetch(server, { hosts: ['mcp.example.com'], websocket: websocket() }),
  // Only Bun needs this one.
  websocket: bunSockets,
}
