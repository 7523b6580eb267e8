/** Compiles the endpoint of one upstream: exactly its names and URIs. A definition that clients could not use is left out. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ServerDefinition } from '../protocol/definition.ts'
import type { Prompt } from '../protocol/prompts.ts'
import type { Resource } from '../protocol/resources.ts'
import type { Tool } from '../protocol/tools.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { cleanIcons } from './hygiene.ts'
import { settingsFor } from './rules.ts'
import type { TargetContext } from './targets.ts'
import { linkedTarget, promptTarget, resourceTarget, toolTarget } from './targets.ts'
import type { LeftOut, Upstream } from './types.ts'

/** The targets of one upstream, and the definitions that have none. */
export interface UpstreamTargets {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly Resource[]
  readonly leftOut: readonly LeftOut[]
}

/** Returns the name under which an endpoint serves a definition, or a reason why it does not. */
export type Naming = (kind: LeftOut['kind'], name: string) => string | { readonly reason: string }

const sameName: Naming = (_, name) => name

/** Makes the targets of an upstream. `naming` gives names, and may refuse them. */
export function targetsOf(
  upstream: Upstream,
  definitions: UpstreamDefinitions,
  context: TargetContext,
  naming: Naming = sameName,
): UpstreamTargets {
  const leftOut: LeftOut[] = []
  function make<T>(
    kind: LeftOut['kind'],
    entries: readonly Params[],
    nameOf: (entry: Params) => unknown,
    target: (entry: Params, name: string) => T | undefined,
  ): readonly T[] {
    const seen = new Set<string>()
    return entries.flatMap((entry) => {
      const own = nameOf(entry)
      const shown = String(own).slice(0, 200)
      try {
        if (typeof own !== 'string') throw new TypeError('its name is not text')
        if (seen.has(own)) throw new TypeError('it is listed twice')
        seen.add(own)
        const name = naming(kind, own)
        if (typeof name !== 'string') throw new TypeError(name.reason)
        const made = target(entry, name)
        return made === undefined ? [] : [made]
      } catch (thrown) {
        if (leftOut.length < maxLeftOut)
          leftOut.push({ kind, name: shown, reason: thrown instanceof Error ? thrown.message : 'cannot be read' })
        return []
      }
    })
  }
  const byName = (entry: Params): unknown => entry['name']
  const tools = make('tool', definitions.tools, byName, (entry, name) => {
    const { annotations } = entry
    const isReadOnly = upstream.trustHints === true && isObject(annotations) && annotations['readOnlyHint'] === true
    const settings = settingsFor(upstream.name, String(entry['name']), isReadOnly, upstream.rules)
    return settings.isAllowed ? toolTarget(entry, name, settings, context) : undefined
  })
  const prompts = make('prompt', definitions.prompts, byName, (entry, name) => promptTarget(entry, name, context))
  const resources = make(
    'resource',
    definitions.resources,
    (entry) => entry['uri'],
    (entry) => resourceTarget(entry, context),
  )
  const templates = make(
    'template',
    definitions.templates,
    (entry) => entry['uriTemplate'],
    (entry) => resourceTarget(entry, context),
  )
  return { tools, prompts, resources, templates, leftOut }
}

const maxLeftOut = 1000

/** Returns the definition of the endpoint for one upstream. */
export function endpointOf(
  base: ServerDefinition,
  definitions: UpstreamDefinitions,
  { tools, prompts, resources, templates }: UpstreamTargets,
  context: TargetContext,
): ServerDefinition {
  const { serverInfo, capabilities, instructions } = definitions
  const { version, title, description, websiteUrl, icons } = serverInfo
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length < 2000
  const shownIcons = cleanIcons(icons)
  return {
    ...base,
    ...(isText(version) && { version }),
    ...(isText(title) && { title }),
    ...(isText(description) && { description }),
    ...(isText(websiteUrl) && /^https:\/\//.test(websiteUrl) && { websiteUrl }),
    ...(shownIcons && { icons: shownIcons as unknown as NonNullable<ServerDefinition['icons']> }),
    ...(instructions !== undefined && { instructions }),
    tools,
    ...(isObject(capabilities['prompts']) && { prompts }),
    ...(isObject(capabilities['resources']) && {
      resources: [...resources, ...templates],
      // A tool's result may link to a resource that no list has.
      resourceAt: (uri) =>
        /^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri) && !context.isQuarantinedUri(uri)
          ? linkedTarget(uri, context)
          : undefined,
    }),
  }
}
