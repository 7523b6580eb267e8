/** SDK v2 on the edge: its handler has the shape of a worker. */
import { createMcpHandler } from '@modelcontextprotocol/server'
import { factory } from './server.ts'

export default createMcpHandler(factory(1))
