/**
 * Adds tasks to what a server serves on 2026-07-28: three methods, the capability, and `taskIds` of
 * `subscriptions/listen`. Around the registry instead of in it, so that a server without tasks carries none of it.
 */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { MethodRegistry } from '../core/plugin.ts'
import type { Ready, Target } from '../core/target.ts'
import { policyOf } from '../protocol/policy.ts'
import { metaKeys } from '../protocol/revisions.ts'
import type { TaskSubscription } from './listen.ts'
import { extension } from './wire.ts'

export interface TaskMethod {
  readonly name: string
  run(call: Call): Promise<Answer>
}
type Subscribe = (call: Call) => Promise<TaskSubscription | undefined>

export function extendRegistry<R extends MethodRegistry>(
  registry: R,
  methods: readonly TaskMethod[],
  subscribe: Subscribe,
): R {
  const targets = new Map<string, Target>(methods.map(({ name, run }) => [name, methodTarget(name, run)]))
  const changed: { readonly [method: string]: (target: Target) => Target } = {
    'server/discover': (target) => around(target, async (run, call) => withCapability(await run(call))),
    'subscriptions/listen': (target) => around(target, (run, call) => listen(run, call, subscribe)),
  }
  const resolve: MethodRegistry['resolve'] = (method, params, era) => {
    const own = era === 'modern' ? targets.get(method) : undefined
    if (own) return { target: own, args: params }
    const found = registry.resolve(method, params, era)
    const change = era === 'modern' && Object.hasOwn(changed, method) ? changed[method] : undefined
    if (!change) return found
    // Made once: later calls find it above.
    const target = change(found.target)
    targets.set(method, target)
    return { target, args: params }
  }
  return { ...registry, resolve, isRequest: (method: string) => targets.has(method) || registry.isRequest(method) }
}

const policy = policyOf({}, 'method', { readOnly: false })

const methodTarget = (name: string, run: TaskMethod['run']): Target => ({
  ...{ kind: 'method', name, policy },
  prepare: () => ({ run }),
})

type Run = (call: Call) => Promise<Answer>

/** The same target with other work. */
function around(target: Target, work: (run: Run, call: Call) => Promise<Answer>): Target {
  const run = async (call: Call, given: Params): Promise<Answer> => {
    const prepared = await target.prepare(call.args)
    if ('issues' in prepared) throw new RpcError('internalError', 'A method of the protocol refused its parameters')
    const ready: Ready = prepared
    return work(async (changed) => ready.run(changed, given), call)
  }
  return { ...target, prepare: () => ({ run }) }
}

/** Exactly an empty object: the official client takes any other value for no capability. */
function withCapability(answer: Answer): Answer {
  if (answer instanceof Prepared) return answer
  const capabilities = isObject(answer['capabilities']) ? answer['capabilities'] : {}
  const extensions = { ...(isObject(capabilities['extensions']) && capabilities['extensions']), [extension]: {} }
  return { ...answer, capabilities: { ...capabilities, extensions } }
}

/** The acknowledgement lists the tasks too; what they have to tell follows it. */
async function listen(run: Run, call: Call, subscribe: Subscribe): Promise<Answer> {
  const subscription = await subscribe(call)
  if (!subscription) return run(call)
  const { taskIds } = subscription
  const _meta = { [metaKeys.subscription]: call.id }
  let end = (): void => {}
  const notify: Call['notify'] = (method, params) => {
    if (method !== 'notifications/subscriptions/acknowledged') return call.notify(method, params)
    const notifications = { ...(isObject(params['notifications']) && params['notifications']), taskIds }
    call.notify(method, { ...params, notifications })
    end = subscription.start((changed, about) => call.notify(changed, { ...about, _meta }))
  }
  try {
    return await run({ ...call, notify })
  } finally {
    end()
  }
}
