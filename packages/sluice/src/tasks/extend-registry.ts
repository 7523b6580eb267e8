/**
 * Adds tasks to what a server serves on 2026-07-28: three methods, the capability, and `taskIds` of
 * `subscriptions/listen`.
 */

import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { isObject } from '../core/json.ts'
import type { MethodRegistry } from '../core/plugin.ts'
import type { ExtensionMethod, RunMethod } from '../protocol/extend-registry.ts'
import { extendMethods } from '../protocol/extend-registry.ts'
import { metaKeys } from '../protocol/revisions.ts'
import type { TaskSubscription } from './listen.ts'
import { extension } from './wire.ts'

type Subscribe = (call: Call) => Promise<TaskSubscription | undefined>

/** The settings are exactly an empty object: the official client takes any other value for no capability. */
export const extendRegistry = <R extends MethodRegistry>(
  registry: R,
  methods: readonly ExtensionMethod[],
  subscribe: Subscribe,
): R =>
  extendMethods(registry, {
    ...{ extension, settings: {}, readOnly: false, methods },
    changed: { 'subscriptions/listen': (run, call) => listen(run, call, subscribe) },
  })

/** The acknowledgement lists the tasks too; what they have to tell follows it. */
async function listen(run: RunMethod, call: Call, subscribe: Subscribe): Promise<Answer> {
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
