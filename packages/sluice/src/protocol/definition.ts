/**
 * The definition that a developer exports. It is plain data without I/O, timers or randomness, so workerd accepts it at
 * module scope.
 */

import type { MethodRegistry } from '../core/plugin.ts'
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
  refuseDuplicates('resource', resources)
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
