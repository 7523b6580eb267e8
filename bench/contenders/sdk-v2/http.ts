/** SDK v2 on `node:http` as its README shows: `createMcpHandler`, `toNodeHandler`, Host and Origin guards. */
import { createServer } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { listen } from '../served.ts'
import { factory } from './server.ts'

const handle = toNodeHandler(createMcpHandler(factory(1)))
const validHost = localhostHostValidation()
const validOrigin = localhostOriginValidation()

listen(
  createServer((request, response) => {
    if (!validHost(request, response) || !validOrigin(request, response)) return
    // Its request type does not allow `undefined`, which Node's does.
    handle(request as Parameters<typeof handle>[0], response).catch(() => response.destroy())
  }),
)
