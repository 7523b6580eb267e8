/** mcp-lite on the edge: its transport is a fetch function. */
import { StreamableHttpTransport } from 'mcp-lite'
import { build } from './server.ts'

export default { fetch: new StreamableHttpTransport().bind(build()) }
