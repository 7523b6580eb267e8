/**
 * Adds an extension to what a server serves on 2026-07-28: its methods, its entry among the capabilities, and changes
 * to methods of the protocol. Around the registry instead of in it, so that a server without extensions carries none
 * of it.
 */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { MethodRegistry } from '../core/plugin.ts'
import type { Ready, Target } from '../core/target.ts'
import { policyOf } from './policy.ts'

export interface ExtensionMethod {
  readonly name: string
  run(call: Call): Promise<Answer>
}
/** Runs the method of the protocol. */
export type RunMethod = (call: Call) => Promise<Answer>
type ChangedMethod = (run: RunMethod, call: Call) => Promise<Answer>

interface RegistryExtension {
  /** Its name among the capabilities. */
  readonly extension: string
  readonly settings: Params
  /** Whether its methods change nothing. */
  readonly readOnly: boolean
  readonly methods: readonly ExtensionMethod[]
  /** Methods of the protocol that answer differently with the extension. */
  readonly changed?: { readonly [method: string]: ChangedMethod }
}

export function extendMethods<R extends MethodRegistry>(registry: R, added: RegistryExtension): R {
  const { extension, settings, readOnly, methods } = added
  const policy = policyOf({}, 'method', { readOnly })
  const targets = new Map<string, Target>(
    methods.map(({ name, run }) => [name, { kind: 'method', name, policy, prepare: () => ({ run }) }]),
  )
  const changed: RegistryExtension['changed'] = {
    'server/discover': async (run, call) => withCapability(await run(call), extension, settings),
    ...added.changed,
  }
  const resolve: MethodRegistry['resolve'] = (method, params, era) => {
    const own = era === 'modern' ? targets.get(method) : undefined
    if (own) return { target: own, args: params }
    const found = registry.resolve(method, params, era)
    const change = era === 'modern' && Object.hasOwn(changed, method) ? changed[method] : undefined
    if (!change) return found
    // Made once: later calls find it above.
    const target = around(found.target, change)
    targets.set(method, target)
    return { target, args: params }
  }
  return { ...registry, resolve, isRequest: (method: string) => targets.has(method) || registry.isRequest(method) }
}

/** The same target with other work. */
function around(target: Target, work: ChangedMethod): Target {
  const run = async (call: Call, given: Params): Promise<Answer> => {
    const prepared = await target.prepare(call.args)
    if ('issues' in prepared) throw new RpcError('internalError', 'A method of the protocol refused its parameters')
    const ready: Ready = prepared
    return work(async (changed) => ready.run(changed, given), call)
  }
  return { ...target, prepare: () => ({ run }) }
}

function withCapability(answer: Answer, extension: string, settings: Params): Answer {
  if (answer instanceof Prepared) return answer
  const capabilities = isObject(answer['capabilities']) ? answer['capabilities'] : {}
  const extensions = { ...(isObject(capabilities['extensions']) && capabilities['extensions']), [extension]: settings }
  return { ...answer, capabilities: { ...capabilities, extensions } }
}
