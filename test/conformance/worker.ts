/** The fixture on the edge: in any isolate, or on workerd in one Durable Object. */

import type { FetchHandler } from 'sluice/fetch'
import { sessions, toFetch } from 'sluice/fetch'
import type { TasksOptions } from 'sluice/plugins'
import { createFixture } from './server.fixture.ts'

interface Env {
  /** Bound if the object serves. */
  readonly ONE?: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}
interface Context {
  waitUntil?(work: Promise<unknown>): void
}
interface Worker {
  readonly handler: { fetch(request: Request, env?: Env, context?: Context): Promise<Response> }
  readonly Everything: new () => { readonly fetch: FetchHandler }
}

export function toWorker(options: TasksOptions = {}): Worker {
  const serve = toFetch(createFixture(options), { sessions: sessions() })
  return {
    handler: {
      fetch: (request, env, context) =>
        env?.ONE ? env.ONE.get(env.ONE.idFromName('one')).fetch(request) : serve(request, env, context),
    },
    Everything: class {
      readonly fetch = toFetch(createFixture(options), { sessions: sessions() })
    },
  }
}

export default toWorker().handler
