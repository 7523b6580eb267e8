import { createServer } from 'sluice'
import { sessions, toFetch } from 'sluice/fetch'
import { elicitation } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket-edge'
import { hello } from '../hello.ts'

interface Env {
  readonly SLUICE_SECRET: string
  readonly ONE: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

export class SharedServer {
  readonly fetch: (request: Request) => Promise<Response>
  constructor(_state: unknown, env: Env) {
    const server = createServer(hello, { secret: env.SLUICE_SECRET, use: [elicitation()] })
    this.fetch = toFetch(server, { sessions: sessions(), sse: sse(), websocket: websocket() })
  }
}

export default {
  fetch: (request: Request, env: Env) => env.ONE.get(env.ONE.idFromName('everybody')).fetch(request),
}
