/** SDK v1 on the edge: its web-standard transport, a server and a transport per request. */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { build } from './server.ts'

export default {
  async fetch(request: Request): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport()
    await build().connect(transport)
    return transport.handleRequest(request)
  },
}
