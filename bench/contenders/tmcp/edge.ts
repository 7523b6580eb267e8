/** tmcp on the edge: its transport answers a `Request`. */
import { HttpTransport } from '@tmcp/transport-http'
import { build } from './server.ts'

const transport = new HttpTransport(build(), { path: '/mcp' })

export default {
  fetch: async (request: Request): Promise<Response> =>
    (await transport.respond(request)) ?? new Response(null, { status: 404 }),
}
