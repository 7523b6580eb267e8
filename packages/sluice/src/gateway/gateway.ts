/**
 * `gateway()`: other MCP servers behind the layers of this one. It returns a definition that `createServer` runs: the
 * endpoint for all upstreams, and in `endpoints` one per upstream with exactly its names.
 *
 * Lists come from the compiled registry, never from asking upstreams. A change is listed, compared, swapped and
 * announced once.
 */

import { digest } from '../core/digest.ts'
import type { Contribution, Services } from '../core/plugin.ts'
import type { Seal } from '../core/seal.ts'
import { createSeal } from '../core/seal.ts'
import { createShared } from '../core/shared.ts'
import type { DefinitionSource, ServerDefinition } from '../protocol/definition.ts'
import { defineServer } from '../protocol/definition.ts'
import { callbackOf, callerAuthLayer, signInsOf } from './auth/layer.ts'
import type { Contexts, EndpointSpec } from './compile.ts'
import { compileEndpoint, unknownLists } from './compile.ts'
import { explainCall, toolsOf } from './explain.ts'
import { questionLog } from './question-log.ts'
import { createRelay } from './relay.ts'
import { rootsHandler } from './relay-questions.ts'
import { createReview } from './review-service.ts'
import { assertProfiles, problemsOf } from './rule-checks.ts'
import type { Runtime } from './runtime.ts'
import { createRuntime, stateOf } from './runtime.ts'
import { sameUris } from './skill-uris.ts'
import type { Owners } from './table.ts'
import type { TargetContext } from './targets.ts'
import type { Gateway, GatewayOptions, Upstream } from './types.ts'
import { createViews, selectorsOf } from './views.ts'
import { createWatches } from './watches.ts'

const defaultStartMs = 10_000

/** Puts MCP servers behind the layers of a Sluice server: `createServer(gateway({ name, version, upstreams }))`. */
export function gateway(options: GatewayOptions): Gateway {
  const { upstreams, profiles = {}, instructions: _, startMs = defaultStartMs, ...info } = options
  const names = new Set(upstreams.map(({ name }) => name))
  if (names.size < upstreams.length)
    throw new TypeError('gateway: two upstreams have the same name; rename one of them')
  assertProfiles(profiles, [...names])
  const shared = createShared<Runtime>()
  const running = (): Runtime['upstreams'] | undefined => shared.current?.upstreams
  const reviewListeners = new Set<(upstream: string) => void>()
  const changed = (upstream: string): void => {
    for (const listener of reviewListeners) listener(upstream)
  }

  /** Returns a source that compiles an endpoint again whenever definitions change. */
  function sourceOf(endpoint: string, spec: EndpointSpec): DefinitionSource {
    const selectors = selectorsOf(spec.upstreams, profiles)
    const needsRate = spec.upstreams.some(({ rules = [] }) => rules.some(({ rate }) => rate !== undefined))
    const source: DefinitionSource = {
      ...(needsRate && { needs: ['rateLimit'] }),
      start(services, update): Contribution {
        const { joined, leave } = shared.join(() =>
          createRuntime(info.name, upstreams, startMs, services, changed, (one) => problemsOf(one, profiles)),
        )
        const contexts = contextsOf(joined, services, endpoint)
        /** Other endpoints have no name of several upstreams that a restart could give to another. */
        const stored = endpoint === '' ? joined.owners : undefined
        let owners: Owners = new Map()
        function compile(): ServerDefinition {
          const made = compileEndpoint(spec, contexts, stored?.current ?? owners)
          owners = made.owners
          stored?.change(owners)
          for (const [name, leftOut] of made.leftOut) joined.upstreams.get(name)?.leftOut.set(endpoint, leftOut)
          if (selectors.length === 0) return { ...made.definition, source }
          const views = createViews(selectors, versionOf(spec.upstreams, contexts), (audience) => ({
            ...compileEndpoint(spec, contexts, made.owners, audience).definition,
            isPrivate: true,
          }))
          return { ...made.definition, source, isPrivate: true, views }
        }
        let isCompiled = false
        function swap(): void {
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
          accepts: (_, exposure) => assertScopes(spec.upstreams, exposure),
          async ready() {
            await joined.ready()
            // A server that joins later missed the change that made the definitions known.
            if (!isCompiled) swap()
          },
          ...(spec.upstreams.some(({ auth }) => auth) && {
            layer: callerAuthLayer(joined.upstreams),
            routes: (path: string, _: string, query = '') => callbackOf(joined.upstreams, path, query),
          }),
          async close() {
            unsubscribe()
            contexts.close()
            await leave()
          },
        }
      },
    }
    return source
  }

  /** Makes an endpoint. `key` tells endpoints of one gateway apart. */
  function endpointFor(key: string, spec: EndpointSpec): ServerDefinition {
    const { base, upstreams: served } = spec
    return defineServer({ ...base, ...unknownLists(served), source: sourceOf(key, spec) })
  }
  const specs = specsOf(info, options)
  const endpoints = [...specs]
    .filter(([key]) => key !== '')
    .map(([key, spec]) => [key, endpointFor(key, spec)] as const)
  const all = specs.get('') as EndpointSpec
  return {
    ...endpointFor('', all),
    endpoints: Object.fromEntries(endpoints.filter(([key]) => names.has(key))),
    profiles: Object.fromEntries(endpoints.filter(([key]) => !names.has(key))),
    signIns: signInsOf(running),
    states: () => [...(running()?.values() ?? [])].map((one) => stateOf(one, problemsOf(one, profiles))),
    upstreamTools: () => toolsOf([...(running()?.values() ?? [])]),
    explain: (question, host) => explainCall({ specs, profiles, running: running() }, question, host),
    async restart(name) {
      const one = running()?.get(name)
      if (!one) throw new TypeError(`Unknown upstream "${name}"`)
      await one.connections.restart()
      await shared.current?.refresh(one)
    },
    review: createReview(() => shared.current, reviewListeners),
  }
}

/** Returns what each endpoint serves: `''` is the one for all, and upstreams and profiles have their names. */
function specsOf(
  info: Omit<GatewayOptions, 'upstreams' | 'profiles' | 'instructions' | 'startMs'>,
  { upstreams, profiles = {}, instructions }: GatewayOptions,
): ReadonlyMap<string, EndpointSpec> {
  const base: ServerDefinition = { ...info, ...(instructions !== undefined && { instructions }) }
  return new Map<string, EndpointSpec>([
    ['', { base, upstreams, profiles, hasOwnNames: false }],
    ...upstreams.map(
      (upstream) =>
        [
          upstream.name,
          { base: { ...info, name: upstream.name }, upstreams: [upstream], profiles, hasOwnNames: true },
        ] as const,
    ),
    ...Object.entries(profiles).map(([profile, { tools }]) => {
      const served = upstreams.filter(({ name }) => Object.hasOwn(tools, name))
      const spec = { base: { ...base, name: profile }, upstreams: served, profiles, profile }
      return [profile, { ...spec, hasOwnNames: served.length === 1 }] as const
    }),
  ])
}

/** Changes with the tools of the upstreams, which decide what views show. */
const versionOf = (upstreams: readonly Upstream[], contexts: Contexts): string =>
  digest(upstreams.map(({ name }) => contexts.of(name).one.definitions?.tools ?? null))

/** The upstreams as one server sees them, with what it must close. */
interface OwnedContexts extends Contexts {
  close(): void
}

/** Makes the relays of one server. The sealed state of its rounds opens for this endpoint alone. */
function contextsOf(runtime: Runtime, services: Services, endpoint: string): OwnedContexts {
  const { secrets, name, clock, logger } = services
  const seal: Seal = createSeal(secrets, `relay ${name} ${endpoint}`, clock)
  const relays = new Map(
    [...runtime.upstreams.values()].map((one) => {
      const { upstream, connections, times } = one
      const credentialOf = one.auth?.credentialOf
      const shared = { name: upstream.name, scope: upstream.scope ?? 'caller', connections, logger, credentialOf }
      const relay = createRelay({
        ...{ ...shared, times, seal, roots: rootsHandler(upstream.roots), isChannel: upstream.isProcess === true },
        record: questionLog(upstream.name, services.audit),
        verify: one.check.verify,
      })
      return [upstream.name, { one, relay, watches: createWatches({ ...shared, clock }) }]
    }),
  )
  return {
    of(upstream) {
      const found = relays.get(upstream)
      if (!found) throw new TypeError(`Unknown upstream "${upstream}"`)
      const { one, relay, watches } = found
      const completes =
        one.definitions?.capabilities['completions'] !== undefined || one.definitions?.revision === oldest
      const { isQuarantinedUri, servedHash } = one.quarantine
      const pinOf: TargetContext['pinOf'] = (id) => {
        const hash = servedHash(id)
        return hash === undefined ? undefined : { id, hash }
      }
      const trustHints = one.upstream.trustHints === true
      return {
        one,
        watches,
        context: { upstream, relay, trustHints, completes, uris: sameUris, pinOf, isQuarantinedUri },
      }
    },
    close() {
      for (const { watches } of relays.values()) watches.close()
    },
  }
}

/** The one revision that has completion without a capability for it. */
const oldest = '2024-11-05'

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
