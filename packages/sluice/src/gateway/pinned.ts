/**
 * The definitions of an upstream that are pinned, each with a hash over everything that a model or a person sees of it.
 * Resources are data and not pinned. Hashes are made when definitions are listed, never during a call.
 */

import { digest } from '../core/digest.ts'
import type { Params } from '../core/json.ts'
import { nameMatcher } from '../core/name-pattern.ts'
import { omitUndefined } from '../core/omit-undefined.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import type { PinnedKind } from './review.ts'
import type { UpstreamRule } from './types.ts'

export interface PinnedDefinition {
  readonly id: string
  readonly kind: PinnedKind
  readonly name: string
  readonly hash: string
  readonly content: PinnedContent
}

export interface PinnedContent {
  /** The entry as the upstream listed it. */
  readonly definition: Params
  /** Arguments that the operator's rules set. They decide what a call does, and the model does not see them. */
  readonly fixed?: readonly Params[]
}

/** Returns the arguments that rules set for a tool; `undefined` if they set none. */
export type FixedArguments = (tool: string) => readonly Params[] | undefined

/**
 * Returns what the operator's rules set for a tool, rule by rule in their order. They decide what a call does, so they are
 * pinned with it.
 */
export const fixedArgumentsOf =
  (rules: readonly UpstreamRule[] = []): FixedArguments =>
  (tool) => {
    const setting = rules.filter((rule) => (rule.fixed ?? rule.defaults) !== undefined && nameMatcher(rule.tools)(tool))
    return setting.length === 0
      ? undefined
      : setting.map(({ tenants, callers, fixed, defaults }) => omitUndefined({ tenants, callers, fixed, defaults }))
  }

/** What is pinned of an upstream's lists. A connection of a call has no instructions of interest. */
export type PinnedLists = Pick<UpstreamDefinitions, 'tools' | 'prompts' | 'templates'>
export const isPinnedList = (list: string): boolean => list === 'tools' || list === 'prompts' || list === 'templates'

/** The id of the definition that a server's words about itself make. */
const instructionsId = 'instructions'

export const idOf = (kind: Exclude<PinnedKind, 'instructions'>, name: string): string => `${kind}:${name}`

export function partsOf(id: string): { readonly kind: PinnedKind; readonly name: string } {
  const [kind = ''] = id.split(':', 1)
  return { kind: kind as PinnedKind, name: id === instructionsId ? id : id.slice(kind.length + 1) }
}

/** Returns the id of an entry; `undefined` if it has no name. Such an entry is never served. */
function idOfEntry(kind: Exclude<PinnedKind, 'instructions'>, entry: Params): string | undefined {
  const name = entry[kind === 'template' ? 'uriTemplate' : 'name']
  return typeof name === 'string' ? idOf(kind, name) : undefined
}

/** An entry of a list, with its id. Of several entries with one id the first counts, because only that one is served. */
export function entriesOf({ tools, prompts, templates }: PinnedLists): ReadonlyMap<string, Params> {
  const entries = new Map<string, Params>()
  const add = (kind: Exclude<PinnedKind, 'instructions'>, list: readonly Params[]): void => {
    for (const entry of list) {
      const id = idOfEntry(kind, entry)
      if (id !== undefined && !entries.has(id)) entries.set(id, entry)
    }
  }
  add('tool', tools)
  add('prompt', prompts)
  add('template', templates)
  return entries
}

export const pinHash = (id: string, { definition, fixed }: PinnedContent): string =>
  digest([id, definition, fixed ?? null])

export function pinnedOf(
  definitions: UpstreamDefinitions,
  fixedArguments: FixedArguments,
): ReadonlyMap<string, PinnedDefinition> {
  const pinned = new Map<string, PinnedDefinition>()
  const add = (id: string, kind: PinnedKind, name: string, content: PinnedContent): unknown =>
    pinned.set(id, { id, kind, name, content, hash: pinHash(id, content) })
  for (const [id, definition] of entriesOf(definitions)) {
    const { kind, name } = partsOf(id)
    const fixed = kind === 'tool' ? fixedArguments(name) : undefined
    add(id, kind, name, { definition, ...(fixed && { fixed }) })
  }
  const words = wordsOf(definitions)
  if (Object.keys(words).length > 0) add(instructionsId, 'instructions', instructionsId, { definition: words })
  return pinned
}

/** What a server says about itself to models and people. Its version is not part of it, because it only counts releases. */
function wordsOf({ instructions, serverInfo }: UpstreamDefinitions): Params {
  const { title, description, websiteUrl, icons } = serverInfo
  return omitUndefined({ instructions, title, description, websiteUrl, icons })
}

/** Returns the part of the definitions whose ids are accepted. Entries without a name stay, to be left out with the reason. */
export function acceptedPart(
  definitions: UpstreamDefinitions,
  isAccepted: (id: string) => boolean,
): UpstreamDefinitions {
  const only = (kind: Exclude<PinnedKind, 'instructions'>, list: readonly Params[]): readonly Params[] =>
    list.filter((entry) => {
      const id = idOfEntry(kind, entry)
      return id === undefined || isAccepted(id)
    })
  const { instructions, serverInfo, ...rest } = definitions
  const { name, version } = serverInfo
  return {
    ...rest,
    ...(isAccepted(instructionsId)
      ? { serverInfo, ...(instructions !== undefined && { instructions }) }
      : { serverInfo: { name, version } }),
    tools: only('tool', definitions.tools),
    prompts: only('prompt', definitions.prompts),
    templates: only('template', definitions.templates),
  }
}
