/**
 * `gateway()`: other MCP servers behind the layers of this one. It returns a definition that `createServer` runs: the
 * endpoint for all upstreams, and in `endpoints` one per upstream with exactly its names.
 *
 * Lists come from the compiled registry, never from asking upstreams. A change is listed, compared, swapped and
 * announced once.
 */

import { RpcError } from '../core/error.ts'
import type { Contribution, Services } from '../core/plugin.ts'
import type { Seal } from '../core/seal.ts'
import { createSeal } from '../core/seal.ts'
import type { DefinitionSource, ServerDefinition } from '../protocol/definition.ts'
import { defineServer } from '../protocol/definition.ts'
import { endpointOf, targetsOf } from './endpoint.ts'
import { createLinks, withOwnPage } from './links.ts'
import { questionLog } from './question-log.ts'
import { createRelay } from './relay.ts'
import { rootsHandler } from './relay-questions.ts'
import type { RunningUpstream, Runtime } from './runtime.ts'
import { createRuntime, stateOf } from './runtime.ts'
import type { UriNames } from './skill-uris.ts'
import { sameUris, skillUris } from './skill-uris.ts'
import type { Owners } from './table.ts'
import { createTable } from './table.ts'
import type { TargetContext } from './targets.ts'
import { linkedTarget } from './targets.ts'
import type { Gateway, GatewayOptions, Upstream } from './types.ts'
import { upstreamSkills } from './upstream-skills.ts'
import type { Watches } from './watches.ts'
import { createWatches } from './watches.ts'

const defaultStartMs = 10_000

/** Puts MCP servers behind the layers of a Sluice server: `createServer(gateway({ name, version, upstreams }))`. */
export function gateway(options: GatewayOptions): Gateway {
  const { upstreams, instructions, startMs = defaultStartMs, ...info } = options
  const names = new Set(upstreams.map(({ name }) => name))
  if (names.size < upstreams.length)
    throw new TypeError('gateway: two upstreams have the same name; rename one of them')
  let runtime: Runtime | undefined
  let servers = 0

  /** Joins the running part, or starts it. */
  function join(services: Services): { readonly runtime: Runtime; leave(): Promise<void> } {
    runtime ??= createRuntime(info.name, upstreams, startMs, services)
    const joined = runtime
    servers++
    return {
      runtime: joined,
      async leave() {
        if (--servers > 0) return
        runtime = undefined
        await joined.close()
      },
    }
  }

  /** Returns a source that compiles an endpoint again whenever definitions change. */
  const sourceOf = (
    endpoint: string,
    served: readonly Upstream[],
    create: (contexts: Contexts, runtime: Runtime) => () => ServerDefinition,
  ): DefinitionSource => ({
    start(services, update): Contribution {
      const { runtime: joined, leave } = join(services)
      const contexts = contextsOf(joined, services, endpoint)
      const compile = create(contexts, joined)
      let isCompiled = false
      const swap = (): void => {
        isCompiled = true
        try {
          update(compile())
        } catch (thrown) {
          // A plugin refused the new definitions. The server goes on with the ones it has.
          const message = thrown instanceof Error ? thrown.message : ''
          services.logger.error({ event: 'definitionsRefused', message })
        }
      }
      const unsubscribe = joined.onChange(swap)
      return {
        accepts: (_, exposure) => assertScopes(served, exposure),
        async ready() {
          await joined.ready()
          // A server that joins later missed the change that made the definitions known.
          if (!isCompiled) swap()
        },
        async close() {
          unsubscribe()
          contexts.close()
          await leave()
        },
      }
    },
  })

  const endpoint = (upstream: Upstream): ServerDefinition => {
    const base: ServerDefinition = { ...info, name: upstream.name, ...unknownLists([upstream.name]) }
    const source = sourceOf(upstream.name, [upstream], (contexts) => () => {
      const { one, context, watches } = contexts.of(upstream.name)
      if (!one.definitions) return { ...base, source }
      const targets = targetsOf(upstream, one.definitions, context)
      one.leftOut.set(upstream.name, targets.leftOut)
      return {
        ...endpointOf({ ...info, name: upstream.name }, one.definitions, targets, context),
        watch: watches.watch,
        source,
      }
    })
    return { ...base, source }
  }

  const base: ServerDefinition = { ...info, ...(instructions !== undefined && { instructions }) }
  const source: DefinitionSource = sourceOf('', upstreams, (contexts, { owners }) => {
    return () => {
      const made = compileAll(base, upstreams, contexts, owners.current)
      owners.change(made.owners)
      return { ...made.definition, source }
    }
  })
  const all = defineServer({ ...base, ...unknownLists([...names]), source })
  return {
    ...all,
    endpoints: Object.fromEntries(upstreams.map((upstream) => [upstream.name, defineServer(endpoint(upstream))])),
    states: () => [...(runtime?.upstreams.values() ?? [])].map(stateOf),
    async restart(name) {
      const one = runtime?.upstreams.get(name)
      if (!one) throw new TypeError(`There is no running upstream "${name}"`)
      await one.connections.restart()
      await one.discovery.refresh()
    },
  }
}

/** The upstreams as one server sees them. */
interface Contexts {
  of(upstream: string): OneContext
  close(): void
}
interface OneContext {
  readonly one: RunningUpstream
  readonly context: TargetContext
  readonly watches: Watches
}

/** Makes the relays of one server. The sealed state of its rounds opens for this endpoint alone. */
function contextsOf(runtime: Runtime, services: Services, endpoint: string): Contexts {
  const { secrets, name, clock, logger } = services
  const seal: Seal = createSeal(secrets, `relay ${name} ${endpoint}`, clock)
  const relays = new Map(
    [...runtime.upstreams.values()].map((one) => {
      const { upstream, connections } = one
      const shared = { name: upstream.name, scope: upstream.scope ?? 'caller', connections, logger }
      const relay = createRelay({
        ...{ ...shared, seal, roots: rootsHandler(upstream.roots), isChannel: upstream.isProcess === true },
        record: questionLog(upstream.name, services.audit),
        verify: (client) => one.verify(client),
      })
      return [upstream.name, { one, relay, watches: createWatches({ ...shared, clock }) }]
    }),
  )
  return {
    of(upstream) {
      const found = relays.get(upstream)
      if (!found) throw new TypeError(`There is no upstream "${upstream}"`)
      const { one, relay, watches } = found
      const completes =
        one.definitions?.capabilities['completions'] !== undefined || one.definitions?.revision === oldest
      return {
        one,
        watches,
        context: { upstream, relay, trustHints: one.upstream.trustHints === true, completes, uris: sameUris },
      }
    },
    close() {
      for (const { watches } of relays.values()) watches.close()
    },
  }
}

/** The one revision that has completion without a capability for it. */
const oldest = '2024-11-05'

/** Compiles the endpoint for all. Upstreams whose definitions are unknown are named in the instructions. */
function compileAll(
  base: ServerDefinition,
  upstreams: readonly Upstream[],
  contexts: Contexts,
  previous: Owners,
): { readonly definition: ServerDefinition; readonly owners: Owners } {
  const claimants = upstreams.flatMap((upstream) => {
    const { definitions } = contexts.of(upstream.name).one
    return definitions ? [{ upstream, definitions }] : []
  })
  const missing = upstreams.filter(({ name }) => !claimants.some(({ upstream }) => upstream.name === name))
  if (claimants.length === 0)
    return { definition: { ...base, ...unknownLists(upstreams.map(({ name }) => name)) }, owners: previous }
  const table = createTable(claimants, previous, new Set(missing.map(({ name }) => name)))
  const links = createLinks(table.ownerOfUri)
  const namesOf = new Map(upstreams.map((upstream) => [upstream.name, skillUris(upstream)]))
  const urisOf = (name: string): UriNames => namesOf.get(name) ?? sameUris
  const contextOf = (name: string): TargetContext => ({
    ...contexts.of(name).context,
    uris: urisOf(name),
    outgoing: (answer) => links.outgoing(name, answer),
  })
  const targets = claimants.map(({ upstream, definitions }) => {
    const { name } = upstream
    const made = targetsOf(upstream, definitions, contextOf(name), table.namingOf(name))
    contexts.of(name).one.leftOut.set('', made.leftOut)
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
  const resources = targets.flatMap((made) => [...made.resources, ...made.templates])
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
  return {
    owners: table.owners,
    definition: {
      ...base,
      ...(texts.length > 0 && { instructions: texts.join('\n\n') }),
      tools: targets.flatMap((made) => made.tools),
      prompts: targets.flatMap((made) => made.prompts),
      resources,
      ...(skills && { skills }),
      resourceAt(uri) {
        const owner = table.ownerOfUri(uri) ?? links.ownerOf(uri)
        return owner === undefined ? undefined : linkedTarget(uri, contextOf(owner))
      },
      watch(uri, call, isWanted) {
        const owner = table.ownerOfUri(uri) ?? links.ownerOf(uri)
        return owner === undefined
          ? () => {}
          : contexts.of(owner).watches.watch(urisOf(owner).original(uri), call, isWanted, uri)
      },
    },
  }
}

/** Before definitions are known, every capability is declared and every list is refused: it must not look empty. */
const unknownLists = (names: readonly string[]): Partial<ServerDefinition> => ({
  tools: [],
  prompts: [],
  resources: [],
  unavailable: new RpcError(
    'upstreamUnavailable',
    `${names.join(', ')}: not reached yet, so the lists are unknown. Try again later`,
    { data: { mayHaveRun: false, retryAfterMs: 5000 } },
  ),
})

/** Refuses to serve strangers with connections that would mix them up. */
function assertScopes(
  upstreams: readonly Upstream[],
  { exposed, authenticated }: { readonly exposed: boolean; readonly authenticated: boolean },
): void {
  if (!exposed || authenticated) return
  const personal = upstreams.find(({ scope }) => scope !== 'shared')
  if (personal)
    throw new TypeError(
      `upstream "${personal.name}": callers are told apart by authentication. Add authenticate() to "use", or set scope: 'shared' if it keeps no state between calls`,
    )
}
