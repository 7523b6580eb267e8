/** What a developer exports: plain data, no I/O, timer or randomness, so it may stand at module scope on workerd. */

import type { Icon } from './content.ts'
import type { Prompt } from './prompts.ts'
import type { Resource } from './resources.ts'
import type { Tool } from './tools.ts'

/** What a server says of itself. */
export interface ServerInfo {
  readonly name: string
  /** Take it from package.json, so that it cannot go stale. */
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}

/** All that a developer says about a server: plain data with functions in it. */
export interface ServerDefinition extends ServerInfo {
  /** How to use this server, for the model. */
  readonly instructions?: string
  readonly tools?: readonly Tool[]
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  /** How long clients may keep lists without asking again; 0 unless said. */
  readonly listTtlMs?: number
}

/** Checks a definition and hands it back. No I/O, so it may stand at module scope anywhere. */
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
