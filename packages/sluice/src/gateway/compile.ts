/**
 * Compiles the endpoints of a gateway from the known definitions: of one upstream with its own names, of several with
 * prefixed names, and of profiles. For a group of callers too, if rules or profiles tell callers apart.
 */

import type { ServerDefinition } from '../protocol/definition.ts'
import type { Tool } from '../protocol/tools.ts'
import type { Naming, UpstreamTargets } from './endpoint.ts'
import { endpointOf, settingsOf, targetsOf } from './endpoint.ts'
import { createLinks, withOwnPage } from './links.ts'
import type { Profiles } from './profiles.ts'
import { filterOf } from './profiles.ts'
import type { Audience } from './rules.ts'
import type { RunningUpstream } from './runtime.ts'
import type { UriNames } from './skill-uris.ts'
import { sameUris, skillUris } from './skill-uris.ts'
import type { Claimant, Owners } from './table.ts'
import { createTable } from './table.ts'
import type { TargetContext } from './targets.ts'
import { linkedTarget } from './targets.ts'
import type { LeftOut, Upstream } from './types.ts'
import { unavailable } from './upstream-error.ts'
import { upstreamSkills } from './upstream-skills.ts'
import type { Watches } from './watches.ts'

export interface Contexts {
  of(upstream: string): OneContext
}
export interface OneContext {
  readonly one: Pick<RunningUpstream, 'definitions'> & Partial<Pick<RunningUpstream, 'auth'>>
  readonly context: TargetContext
  readonly watches: Pick<Watches, 'watch'>
}

export interface EndpointSpec {
  readonly base: ServerDefinition
  readonly upstreams: readonly Upstream[]
  /** Whether it has the names of its only upstream. */
  readonly hasOwnNames: boolean
  readonly profiles: Profiles
  readonly profile?: string
}

export interface CompiledEndpoint {
  readonly definition: ServerDefinition
  readonly owners: Owners
  /** Definitions that are not served, by upstream. */
  readonly leftOut: ReadonlyMap<string, readonly LeftOut[]>
  /** Where each tool comes from, by its name on the endpoint. */
  readonly origins: ReadonlyMap<string, ToolOrigin>
}

/** A tool by its upstream and the upstream's own name. */
export interface ToolOrigin {
  readonly upstream: string
  readonly tool: string
}

/** Compiles an endpoint. `previous` are the owners of names so far. Without `audience` only rules for everyone apply. */
export const compileEndpoint = (
  spec: EndpointSpec,
  contexts: Contexts,
  previous: Owners,
  audience?: Audience,
): CompiledEndpoint =>
  spec.hasOwnNames ? compileOne(spec, contexts, previous, audience) : compileAll(spec, contexts, previous, audience)

function compileOne(
  { base, upstreams, profiles, profile }: EndpointSpec,
  contexts: Contexts,
  owners: Owners,
  audience?: Audience,
): CompiledEndpoint {
  const [upstream] = upstreams
  const { one, context, watches } = contexts.of(upstream?.name ?? '')
  if (!upstream || !one.definitions) return unknownEndpoint(base, upstreams, owners, one.auth?.tool?.('sign_in'))
  const filter = filterOf(profiles, profile, audience)
  const listed = targetsOf(upstream, one.definitions, context, { audience, filter })
  const targets = withSignInTool(listed, one.auth?.tool?.('sign_in'))
  return {
    definition: {
      ...endpointOf(base, one.definitions, targets, context, filter !== undefined),
      ...(profile !== undefined && { name: base.name }),
      watch: watches.watch,
    },
    owners,
    leftOut: new Map([[upstream.name, targets.leftOut]]),
    origins: originsOf(upstream.name, targets.ownNames),
  }
}

const originsOf = (upstream: string, ownNames: ReadonlyMap<string, string>): Map<string, ToolOrigin> =>
  new Map([...ownNames].map(([name, tool]) => [name, { upstream, tool }]))

/** Upstreams whose definitions are unknown are named in the instructions. */
function compileAll(
  { base, upstreams, profiles, profile }: EndpointSpec,
  contexts: Contexts,
  previous: Owners,
  audience?: Audience,
): CompiledEndpoint {
  const claimants = upstreams.flatMap((upstream): readonly Claimant[] => {
    const { definitions } = contexts.of(upstream.name).one
    if (!definitions) return []
    const toolNames = definitions.tools.map((entry) => settingsOf(upstream, entry, audience).name)
    return [{ upstream, definitions, toolNames }]
  })
  const missing = upstreams.filter(({ name }) => !claimants.some(({ upstream }) => upstream.name === name))
  const signInToolOf = ({ name }: Upstream): Tool | undefined => contexts.of(name).one.auth?.tool?.(signInName(name))
  if (claimants.length === 0) return unknownEndpoint(base, upstreams, previous, ...missing.map(signInToolOf))
  const signInNames = new Map(
    upstreams.flatMap((upstream) => (signInToolOf(upstream) ? [[signInName(upstream.name), upstream.name]] : [])),
  )
  const table = createTable(claimants, previous, new Set(missing.map(({ name }) => name)))
  const links = createLinks(table.ownerOfUri)
  const namesOf = new Map(upstreams.map((upstream) => [upstream.name, skillUris(upstream)]))
  const urisOf = (name: string): UriNames => namesOf.get(name) ?? sameUris
  const contextOf = (name: string): TargetContext => ({
    ...contexts.of(name).context,
    uris: urisOf(name),
    outgoing: (answer) => links.outgoing(name, answer),
  })
  const filter = filterOf(profiles, profile, audience)
  const leftOut = new Map<string, readonly LeftOut[]>()
  const origins = new Map<string, ToolOrigin>()
  const targets = claimants.map(({ upstream, definitions }) => {
    const { name } = upstream
    const namesOfTable = table.namingOf(name)
    const naming: Naming = (kind, own) => {
      const served = namesOfTable(kind, own)
      const other = kind === 'tool' && typeof served === 'string' ? signInNames.get(served) : undefined
      // Two tools of one name would keep the whole endpoint from being served.
      return other === undefined || other === name ? served : { reason: `callers sign in to ${other} by this name` }
    }
    const listed = targetsOf(upstream, definitions, contextOf(name), { naming, audience, filter })
    const made = withSignInTool(listed, signInToolOf(upstream))
    leftOut.set(name, made.leftOut)
    for (const [served, origin] of originsOf(name, made.ownNames)) origins.set(served, origin)
    const keepsNames = upstream.prefix === ''
    const tools = made.tools.map((tool) => withOwnPage(tool, (uri) => keepsNames && table.ownerOfUri(uri) === name))
    return { ...made, tools }
  })
  const texts = [
    base.instructions,
    ...claimants.map(({ upstream, definitions }) =>
      definitions.instructions === undefined ? undefined : `# ${upstream.name}\n\n${definitions.instructions}`,
    ),
    ...missing.map(({ name }) => `# ${name}\n\nThis server is unavailable now, so its tools are not listed.`),
  ].filter((text) => text !== undefined)
  const waiting = missing.flatMap((upstream) => signInToolOf(upstream) ?? [])
  const skills = upstreamSkills(
    claimants.map(({ upstream: { name }, definitions }) => ({
      ...{ definitions, context: contextOf(name), uris: urisOf(name) },
      lists: (uri) => typeof table.namingOf(name)('skill', uri) === 'string',
      // A skill that no list has is found by the prefix of its upstream.
      owns: (uri) => {
        const owner = table.ownerOfUri(uri)
        return owner === undefined ? urisOf(name).original(uri) !== uri : owner === name
      },
    })),
  )
  const definition: ServerDefinition = {
    ...base,
    ...(texts.length > 0 && { instructions: texts.join('\n\n') }),
    tools: [...targets.flatMap((made) => made.tools), ...waiting],
    prompts: targets.flatMap((made) => made.prompts),
    resources: targets.flatMap((made) => [...made.resources, ...made.templates]),
    ...(skills && !filter && { skills }),
    resourceAt(uri) {
      const owner = filter ? undefined : (table.ownerOfUri(uri) ?? links.ownerOf(uri))
      if (owner === undefined) return undefined
      const context = contextOf(owner)
      return context.isQuarantinedUri(context.uris.original(uri)) ? undefined : linkedTarget(uri, context)
    },
    watch(uri, call, isWanted) {
      const owner = table.ownerOfUri(uri) ?? links.ownerOf(uri)
      return owner === undefined
        ? () => {}
        : contexts.of(owner).watches.watch(urisOf(owner).original(uri), call, isWanted, uri)
    },
  }
  return { definition, owners: table.owners, leftOut, origins }
}

const signInName = (upstream: string): string => `${upstream}_sign_in`

/** Adds the tool by which callers sign in. A tool of the upstream with the same name keeps the name. */
const withSignInTool = (targets: UpstreamTargets, tool: Tool | undefined): UpstreamTargets =>
  tool && !targets.tools.some(({ name }) => name === tool.name)
    ? { ...targets, tools: [...targets.tools, tool] }
    : targets

/** While definitions wait for the first sign-in, the tools for it are listed alone. */
function unknownEndpoint(
  base: ServerDefinition,
  upstreams: readonly Upstream[],
  owners: Owners,
  ...signInTools: readonly (Tool | undefined)[]
): CompiledEndpoint {
  const tools = signInTools.filter((tool) => tool !== undefined)
  const instructions = `${base.instructions ?? ''}\n\nSign in first: its tools are listed then.`.trim()
  const { unavailable, ...empty } = unknownLists(upstreams)
  const definition = { ...base, ...empty, ...(tools.length > 0 ? { tools, instructions } : { unavailable }) }
  return { definition, owners, leftOut: new Map(), origins: new Map() }
}

/** Before definitions are known, every capability is declared and every list is refused: it must not look empty. */
export const unknownLists = (
  upstreams: readonly Upstream[],
): Required<Pick<ServerDefinition, 'tools' | 'prompts' | 'resources' | 'unavailable'>> => ({
  ...{ tools: [], prompts: [], resources: [] },
  unavailable: unavailable(
    `${upstreams.map(({ name }) => name).join(', ')}: not reached yet, so the lists are unknown. Try again later`,
    { retryAfterMs: 5000 },
  ),
})
