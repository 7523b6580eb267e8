/**
 * The definitions of an upstream as it listed them, kept whole: lists are served from them while it is down, and each new
 * connection is compared with them.
 */

import { errorCodes, ServerError } from '../client/errors.ts'
import type { Client } from '../client/types.ts'
import { digest } from '../core/digest.ts'
import type { Params } from '../core/json.ts'
import { isObject, parseJson } from '../core/json.ts'
import type { Mutable } from '../core/mutable.ts'
import { skillSettings } from './upstream-skills.ts'

export interface UpstreamDefinitions {
  readonly revision: string
  readonly serverInfo: Params
  readonly capabilities: Params
  readonly instructions?: string
  readonly tools: readonly Params[]
  readonly prompts: readonly Params[]
  readonly resources: readonly Params[]
  readonly templates: readonly Params[]
  readonly skills?: readonly Params[]
}

/** Maximum entries per list, and characters of all lists. A flood must not fill memory or the store. */
const maxEntries = { tools: 2000, prompts: 2000, resources: 10_000, templates: 1000, skills: 1000 }
const maxLength = 16 * 1024 * 1024
const maxInstructions = 32 * 1024

type ListName = keyof typeof maxEntries
const lists: readonly (readonly [
  name: ListName,
  isDeclared: (by: Params) => boolean,
  method: string,
  member: string,
])[] = [
  ['tools', ({ tools }) => isObject(tools), 'tools/list', 'tools'],
  ['prompts', ({ prompts }) => isObject(prompts), 'prompts/list', 'prompts'],
  ['resources', ({ resources }) => isObject(resources), 'resources/list', 'resources'],
  ['templates', ({ resources }) => isObject(resources), 'resources/templates/list', 'resourceTemplates'],
  ['skills', (capabilities) => skillSettings(capabilities) !== undefined, 'skills/list', 'skills'],
]

/**
 * Lists everything that an upstream has. A list that fails fails the whole, because it must not look empty. Lists that
 * `isWanted` excludes are not read, and are empty.
 */
export async function readDefinitions(
  client: Client,
  timeoutMs: number,
  isWanted: (list: string) => boolean = () => true,
): Promise<UpstreamDefinitions> {
  const { revision, capabilities, instructions, serverInfo } = client.agreement
  const found: Mutable<Pick<UpstreamDefinitions, ListName>> = { tools: [], prompts: [], resources: [], templates: [] }
  let length = 0
  for (const [name, isDeclared, method, member] of lists) {
    if (!isWanted(name) || !isDeclared(capabilities)) continue
    const entries: Params[] = []
    try {
      for await (const page of client.pages(method, {}, { timeoutMs })) {
        const listed = page[member]
        if (!Array.isArray(listed)) throw new TypeError(`${method} has no "${member}"`)
        entries.push(...listed.filter(isObject))
        length += JSON.stringify(listed).length
        if (entries.length > maxEntries[name] || length > maxLength)
          throw new RangeError(`${method} has more than ${maxEntries[name]} entries or ${maxLength} characters in all`)
      }
    } catch (thrown) {
      // Some servers declare resources and have no templates.
      if (!(thrown instanceof ServerError) || thrown.code !== errorCodes.methodNotFound) throw thrown
    }
    found[name] = entries
  }
  return {
    revision,
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    capabilities,
    ...(typeof instructions === 'string' && { instructions: instructions.slice(0, maxInstructions).toWellFormed() }),
    ...found,
  }
}

/** Returns stored definitions; `undefined` if the text is not what this version wrote. */
export function parseDefinitions(text: string): UpstreamDefinitions | undefined {
  const value = parseJson(text)
  return areDefinitions(value) ? value : undefined
}

const areDefinitions = (value: unknown): value is UpstreamDefinitions =>
  isObject(value) &&
  lists.every(([name]) => Array.isArray(value[name] ?? (name === 'skills' && []))) &&
  isObject(value['capabilities'])

/**
 * Hashes what a model or a person sees of an upstream: tools, prompts, templates and instructions, with annotations,
 * schemas, icons and `_meta`. Resources are not part of it, because they are data.
 */
export const hashOf = ({ tools, prompts, templates, instructions }: UpstreamDefinitions): string =>
  digest({ tools, prompts, templates, instructions: instructions ?? null })
