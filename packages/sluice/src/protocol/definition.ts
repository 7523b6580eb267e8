/**
 * The definition that a developer exports. It is plain data without I/O, timers or randomness, so workerd accepts it at
 * module scope.
 */

import type { Call } from '../core/call.ts'
import type { RpcError } from '../core/error.ts'
import type { Contribution, MethodRegistry, Services, Slot } from '../core/plugin.ts'
import type { Icon } from './content.ts'
import type { Prompt } from './prompts.ts'
import type { Resource } from './resources.ts'
import type { Tool } from './tools.ts'

/** The server's description of itself. */
export interface ServerInfo {
  readonly name: string
  /** Take it from package.json, so that it stays current. */
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}

/** Everything that a developer defines about a server: plain data with functions in it. */
export interface ServerDefinition extends ServerInfo {
  /** Instructions for the model on how to use this server. */
  readonly instructions?: string
  readonly tools?: readonly Tool[]
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  /** Folders of instructions for agents: `folder('./skills')` from `sluice/skills-node`. */
  readonly skills?: Skills | undefined
  /** How long clients may cache lists. 0 by default. */
  readonly listTtlMs?: number
  /** Whether callers see different lists, so that no shared cache may keep them. */
  readonly isPrivate?: boolean
  /** What single callers see instead of this definition. */
  readonly views?: DefinitionViews | undefined
  /** Brings definitions that change while the server runs, such as those of upstream servers. */
  readonly source?: DefinitionSource
  /** Refuses all lists while the definitions are unknown, because an empty list would look like an empty server. */
  readonly unavailable?: RpcError
  /** Finds the resource at a URI that no other definition has. */
  resourceAt?(uri: string): Resource | undefined
  /**
   * Called when a client subscribes to a resource. The returned function ends it. A subscription on a connection is not
   * always ended by its client, so `isWanted` says whether it still counts.
   */
  watch?(uri: string, call: Call, isWanted: () => boolean): () => void
}

/** Definitions with a life: `createServer` starts it, `ready` waits for it, and `close` ends it. */
export interface DefinitionSource {
  /** Slots that must be taken, or the server does not start. */
  readonly needs?: readonly Exclude<Slot, 'custom'>[]
  /** Does no I/O before `ready` of its contribution. `update` swaps the definition of the running server. */
  start(services: Services, update: (definition: ServerDefinition) => void): Contribution
}

/** Definitions as single callers see them. They bring their own code, so that other servers do not carry it. */
export interface DefinitionViews {
  /** Changes if what any caller sees may have changed, so that clients are notified. */
  readonly version: string
  /** Returns a registry that resolves each call in the registry of its caller. `compile` makes the registry of a view. */
  extendRegistry<R extends ViewedRegistry>(registry: R, compile: (view: ServerDefinition) => R): R
}

/** As much of a registry as depends on the caller. */
export interface ViewedRegistry extends MethodRegistry {
  refusal(call: Call): RpcError
}

/** Skills that are ready for a server definition. They bring their own code, so that other servers do not carry it. */
export interface Skills {
  /** The files as resources, which clients of all revisions can read. */
  readonly resources: readonly Resource[]
  /** Adds the methods and the capability of skills, on 2026-07-28 only. */
  extendRegistry<R extends MethodRegistry>(registry: R, pageSize: number, listTtlMs?: number): R
}

/** Checks a definition and returns it. Does no I/O, so it may be called at module scope in every runtime. */
export function defineServer(definition: ServerDefinition): ServerDefinition {
  const { name, version, tools = [], resources = [], prompts = [] } = definition
  if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '')
    throw new TypeError('defineServer: a server needs a "name" and a "version"')
  refuseDuplicates('tool', tools)
  // A URI may also be a template without variables.
  for (const templates of [true, false])
    refuseDuplicates(
      'resource',
      resources.filter(({ template }) => !template !== templates),
    )
  refuseDuplicates('prompt', prompts)
  return definition
}

function refuseDuplicates(kind: string, targets: readonly { readonly name: string }[]): void {
  const seen = new Set<string>()
  for (const { name } of targets) {
    if (seen.has(name)) throw new TypeError(`${kind} "${name}" is defined twice; rename one of them`)
    seen.add(name)
  }
}
