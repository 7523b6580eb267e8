/** SDK v1 over stdio: one server, connected to its stdio transport. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { build } from './server.ts'

await build().connect(new StdioServerTransport())
