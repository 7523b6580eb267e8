/** One definition with every transport, as the edge runs it; with credentials on a separate path. */

import type { Server } from 'sluice'
import { authenticate, createServer, defineServer, tool } from 'sluice'
import { sessions, toFetch } from 'sluice/fetch'
import { sse } from 'sluice/sse'
import { bunSockets, websocket } from 'sluice/websocket-edge'
import { z } from 'zod'
import { verifier } from '../kit/servers/verifier.fixture.ts'

const definition = defineServer({
  name: 'ways',
  version: '1',
  tools: [
    tool({
      name: 'echo',
      description: 'Returns the text',
      input: z.object({ text: z.string() }),
      run: ({ text }) => text,
    }),
  ],
})

const serve = (server: Server): ReturnType<typeof toFetch> =>
  toFetch(server, { sessions: sessions(), sse: sse(), websocket: websocket({ maxPayload: 10_000 }) })

const everything = (): ReturnType<typeof toFetch> => {
  const open = serve(createServer(definition))
  const guarded = serve(createServer(definition, { use: [authenticate({ verifiers: [verifier] })] }))
  const handler: typeof open = Object.assign(
    (...given: Parameters<typeof open>) =>
      new URL(given[0].url).pathname.startsWith('/guarded/') ? guarded(...given) : open(...given),
    { close: open.close },
  )
  return handler
}

const handler = everything()

export class Everything {
  readonly fetch = everything()
}

interface Env {
  readonly ONE?: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

export default {
  fetch: (request: Request, beside?: Env, context?: { waitUntil?(work: Promise<unknown>): void }): Promise<Response> =>
    beside?.ONE ? beside.ONE.get(beside.ONE.idFromName('one')).fetch(request) : handler(request, beside, context),
  websocket: bunSockets,
}
