/** A call with defaults for everything that a test does not set, for testing layers one at a time. */

import type { Answer } from '../core/answer.ts'
import type { Call, Handler, Layer, Tenant } from '../core/call.ts'
import { anonymous, callAsync, pipeline } from '../core/call.ts'
import { silentLogger } from '../core/log.ts'
import { createStop } from '../core/stop.ts'
import { createTenants } from '../layers/tenant-registry.ts'
import { memoryStore } from '../stores/memory.ts'
import { fakeClock } from './clock.ts'

/** Returns a call with defaults for everything that is not given. */
export function aCall(overrides: Partial<Call> = {}): Call {
  return {
    id: 1,
    method: 'tools/call',
    params: { name: 'a-tool', arguments: {} },
    meta: {},
    revision: '2026-07-28',
    target: {
      kind: 'tool',
      name: 'a-tool',
      policy: { scopes: [], listed: false, approval: 'never', timeoutMs: 30_000, readOnly: false },
      prepare: () => ({ run: async () => ({ content: [] }) }),
    },
    args: {},
    ready: undefined,
    answers: {},
    caller: anonymous,
    tenant: aTenant('default'),
    capabilities: {},
    via: { transport: 'memory', peer: 'test', header: () => undefined },
    stop: createStop(),
    notify: () => {},
    request: undefined,
    publish: () => {},
    stayOpen: undefined,
    maxResultLength: 1e6,
    detach: () => {},
    facts: {},
    ...overrides,
  }
}

function aTenant(id: string): Tenant {
  const clock = fakeClock()
  return createTenants({ store: memoryStore(clock), logger: silentLogger }).of(id)
}

/** Composes layers for a test. The answer is always a promise, as most tests await it. */
export function asyncPipeline(layers: readonly Layer[], handler: Handler): (call: Call) => Promise<Answer> {
  const serve = pipeline(layers, handler)
  return (call) => callAsync(serve, call)
}
