/** Our client on the edge: it calls a server in the same isolate and answers with what it got. */

import { createServer, defineServer, tool } from 'sluice'
import { connect, inProcessTransport } from 'sluice/client'
import { z } from 'zod'

const definition = defineServer({
  name: 'near',
  version: '1',
  tools: [
    tool({
      name: 'echo',
      description: 'The text, back',
      input: z.object({ text: z.string() }),
      run: ({ text }) => text,
    }),
  ],
})

export default {
  async fetch(request: Request): Promise<Response> {
    const era = new URL(request.url).pathname === '/legacy' ? 'legacy' : 'modern'
    const client = await connect(inProcessTransport(createServer(definition)), { era })
    const names: unknown[] = []
    for await (const { name } of client.tools()) names.push(name)
    const { content } = await client.callTool('echo', { text: 'hello' })
    await client.close()
    return Response.json({ revision: client.agreement.revision, names, content })
  },
}
