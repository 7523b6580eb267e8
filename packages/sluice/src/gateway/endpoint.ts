/** Compiles the endpoint of one upstream: exactly its names and URIs. A definition that clients could not use is left out. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ServerDefinition } from '../protocol/definition.ts'
import type { Prompt } from '../protocol/prompts.ts'
import type { Resource } from '../protocol/resources.ts'
import type { Tool } from '../protocol/tools.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { cleanIcons } from './hygiene.ts'
import { withOwnPage } from './links.ts'
import type { ToolFilter } from './profiles.ts'
import type { Audience, ToolSettings } from './rules.ts'
import { matchingRules, settingsFor } from './rules.ts'
import type { TargetContext } from './targets.ts'
import { linkedTarget, promptTarget, resourceTarget, toolTarget } from './targets.ts'
import type { LeftOut, Upstream } from './types.ts'
import { skillUrisOf, upstreamSkills, withSkillDigests } from './upstream-skills.ts'

/** The targets of one upstream, and the definitions that have none. */
export interface UpstreamTargets {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly Resource[]
  readonly leftOut: readonly LeftOut[]
  /** The upstream's own name of each tool, by the name on the endpoint. */
  readonly ownNames: ReadonlyMap<string, string>
}

/** The part of an upstream that an endpoint serves, and to whom. */
export interface Selection {
  /** Gives names, and may refuse them. Names are kept by default. */
  readonly naming?: Naming
  /** The callers for whom it is compiled. `undefined` before a caller is known. */
  readonly audience?: Audience | undefined
  /** Limits the tools, and leaves out prompts and resources. */
  readonly filter?: ToolFilter | undefined
}

/** Returns the name under which an endpoint serves a definition, or a reason why it does not. */
export type Naming = (kind: LeftOut['kind'], name: string) => string | { readonly reason: string }

const sameName: Naming = (_, name) => name

export function settingsOf(upstream: Upstream, entry: Params, audience: Audience | undefined): ToolSettings {
  const { name, annotations } = entry
  const isReadOnly = upstream.trustHints === true && isObject(annotations) && annotations['readOnlyHint'] === true
  const matching = matchingRules(upstream.rules ?? [], String(name), audience)
  return settingsFor(upstream.name, String(name), isReadOnly, matching)
}

export function targetsOf(
  upstream: Upstream,
  definitions: UpstreamDefinitions,
  context: TargetContext,
  { naming = sameName, audience, filter }: Selection = {},
): UpstreamTargets {
  const leftOut: LeftOut[] = []
  function make<Entry, T>(
    kind: LeftOut['kind'],
    entries: readonly Entry[],
    nameOf: (entry: Entry) => unknown,
    target: (entry: Entry, name: string) => T,
    servedName: (own: string, entry: Entry) => string = (own) => own,
  ): readonly T[] {
    const seen = new Set<string>()
    return entries.flatMap((entry) => {
      const own = nameOf(entry)
      const shown = String(own).slice(0, 200)
      try {
        if (typeof own !== 'string') throw new TypeError('its name is not text')
        if (seen.has(own)) throw new TypeError('it is listed twice')
        seen.add(own)
        const name = naming(kind, servedName(own, entry))
        if (typeof name !== 'string') throw new TypeError(name.reason)
        return [target(entry, name)]
      } catch (thrown) {
        if (leftOut.length < maxLeftOut)
          leftOut.push({ kind, name: shown, reason: thrown instanceof Error ? thrown.message : 'cannot be read' })
        return []
      }
    })
  }
  const byUri = (entry: Params): unknown => entry['uri']
  const settings = new Map(definitions.tools.map((entry) => [entry, settingsOf(upstream, entry, audience)]))
  const served = [...settings].filter(
    ([entry, { isAllowed }]) => isAllowed && (!filter || filter(upstream.name, String(entry['name']))),
  )
  const namesGiven = new Map<string, string>()
  for (const [entry, { name }] of served) {
    const own = String(entry['name'])
    if (name !== own && !namesGiven.has(name)) namesGiven.set(name, own)
  }
  const ownNames = new Map<string, string>()
  const tools = make(
    'tool',
    served,
    ([entry]) => entry['name'],
    ([entry, decided], name) => {
      const made = toolTarget(entry, name, decided, context)
      ownNames.set(name, String(entry['name']))
      return made
    },
    (own, [, { name }]) => {
      const other = namesGiven.get(name)
      // Otherwise an upstream could later list a tool under the name that the operator gave to another.
      if (other !== undefined && other !== own) throw new TypeError(`a rule gives its name to ${other}`)
      return name
    },
  )
  // A profile has tools only, because resources and prompts would show what it leaves out.
  const unlessFiltered = (entries: readonly Params[]): readonly Params[] => (filter ? [] : entries)
  const byName = (entry: Params): unknown => entry['name']
  const toPrompt = (entry: Params, name: string): Prompt => promptTarget(entry, name, context)
  const prompts = make('prompt', unlessFiltered(definitions.prompts), byName, toPrompt)
  const toResource = (entry: Params, uri: string): Resource => resourceTarget(entry, uri, context)
  const resources = make('resource', unlessFiltered(withSkillDigests(definitions)), byUri, toResource)
  const byTemplate = (entry: Params): unknown => entry['uriTemplate']
  const templates = make('template', unlessFiltered(definitions.templates), byTemplate, toResource)
  const skills = skillUrisOf(definitions).map((uri) => ({ uri }))
  make('skill', skills, byUri, (_, uri) => uri)
  return {
    tools: filter ? tools.map((tool) => withOwnPage(tool, () => false)) : tools,
    prompts,
    resources,
    templates,
    leftOut,
    ownNames,
  }
}

const maxLeftOut = 1000

export function endpointOf(
  base: ServerDefinition,
  definitions: UpstreamDefinitions,
  { tools, prompts, resources, templates }: UpstreamTargets,
  context: TargetContext,
  isLimited = false,
): ServerDefinition {
  const { serverInfo, capabilities, instructions } = definitions
  const { version, title, description, websiteUrl, icons } = serverInfo
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length < 2000
  const shownIcons = cleanIcons(icons)
  const skills = upstreamSkills([{ definitions, context, uris: context.uris, lists: () => true, owns: () => true }])
  return {
    ...base,
    ...(isText(version) && { version }),
    ...(isText(title) && { title }),
    ...(isText(description) && { description }),
    ...(isText(websiteUrl) && /^https:\/\//.test(websiteUrl) && { websiteUrl }),
    ...(shownIcons && { icons: shownIcons }),
    ...(instructions !== undefined && { instructions }),
    tools,
    ...(isObject(capabilities['prompts']) && { prompts }),
    ...(isObject(capabilities['resources']) && {
      resources: [...resources, ...templates],
      // A tool's result may link to a resource that no list has.
      ...(skills && !isLimited && { skills }),
      resourceAt: (uri) =>
        !isLimited && /^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri) && !context.isQuarantinedUri(uri)
          ? linkedTarget(uri, context)
          : undefined,
    }),
  }
}
