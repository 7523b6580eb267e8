/** The fixture on the edge: in any isolate, or on workerd in one Durable Object. */

import { sessions, toFetch } from 'sluice/fetch'
import { createFixture } from './server.fixture.ts'

interface Env {
  /** Bound if the object serves. */
  readonly ONE?: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

const handler = toFetch(createFixture(), { sessions: sessions() })

export class Everything {
  readonly fetch = toFetch(createFixture(), { sessions: sessions() })
}

export default {
  fetch: (request: Request, env?: Env, context?: { waitUntil?(work: Promise<unknown>): void }): Promise<Response> =>
    env?.ONE ? env.ONE.get(env.ONE.idFromName('one')).fetch(request) : handler(request, env, context),
}
