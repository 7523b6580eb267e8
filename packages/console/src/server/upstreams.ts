/** The servers behind the gateway, as operators see and restart them. */

import { RpcError } from 'sluice'
import type { Gateway, UpstreamState } from 'sluice/gateway'
import { modernRevision } from 'sluice/internal'
import type {
  ConnectionSummary,
  DefinitionDiffView,
  Operator,
  OwnSignIns,
  RouteInput,
  UpstreamSummary,
} from '../api/index.ts'
import type { ConsoleState } from './console-state.ts'

/** `signIns` are those of the operator, by upstream. */
export const upstreamsOf = (
  { gateway }: ConsoleState,
  { tenants }: Operator,
  signIns: ReadonlyMap<string, OwnSignIns>,
): readonly UpstreamSummary[] =>
  (gateway()?.states() ?? []).map((state) => {
    const signIn = signIns.get(state.name)
    return { ...toUpstream(state, tenants), ...(signIn && { signIn }) }
  })

function toUpstream(state: UpstreamState, tenants: readonly string[]): UpstreamSummary {
  const { name, transport, definitions, tools, prompts, resources, templates, hash, revision } = state
  const isForAll = tenants.length === 0
  // Output and errors of a shared process may contain data of any tenant.
  const connections = isForAll
    ? state.connections
    : state.connections.filter(({ tenant }) => tenant !== undefined && tenants.includes(tenant))
  const sum = (of: 'inFlight' | 'restarts'): number => connections.reduce((total, each) => total + each[of], 0)
  return {
    ...{ name, state: summaryOf(state, connections), transport, definitions, tools, prompts, resources, templates },
    ...(revision !== undefined && { revision, era: revision >= modernRevision ? 'modern' : 'legacy' }),
    ...(hash !== undefined && { hash }),
    ...{ inFlight: sum('inFlight'), restarts: sum('restarts') },
    ...(isForAll && state.latency),
    ...(isForAll && state.lastError !== undefined && { lastError: state.lastError }),
    quarantined: state.quarantined,
    leftOut: state.leftOut,
    connections: connections.map((each) => toConnection(each, isForAll)),
  }
}

function toConnection(connection: UpstreamState['connections'][number], isForAll: boolean): ConnectionSummary {
  const { tenant: _, pid, lastError, stderr, skippedLines, ...rest } = connection
  if (!isForAll) return rest
  return {
    ...rest,
    ...(pid !== undefined && { pid }),
    ...(lastError !== undefined && { lastError }),
    ...(stderr && { stderr }),
    ...(skippedLines !== undefined && { skippedLines }),
  }
}

/** Returns one word for the state of an upstream. */
function summaryOf(
  { lastError, definitions }: UpstreamState,
  connections: UpstreamState['connections'],
): UpstreamSummary['state'] {
  const worst = (['crash-loop', 'backoff'] as const).find((each) => connections.some(({ state }) => state === each))
  if (worst) return worst
  if (lastError !== undefined) return 'unavailable'
  if (connections.some(({ state }) => state === 'ready')) return 'ready'
  return definitions === 'unknown' ? 'starting' : 'idle'
}

/** Returns the gateway if it has the upstream and the operator may change it: it serves all tenants. */
function managed({ gateway }: ConsoleState, { tenants }: Operator, name: string): Gateway {
  if (tenants.length > 0) throw new RpcError('forbidden', 'Upstreams serve all tenants: ask an operator of all tenants')
  const found = gateway()
  if (!found?.states().some((each) => each.name === name)) throw unknownUpstream()
  return found
}

export async function restartUpstream(consoleState: ConsoleState, operator: Operator, name: string): Promise<void> {
  const gateway = managed(consoleState, operator, name)
  try {
    await gateway.restart(name)
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.message : 'unknown failure'
    throw new RpcError('conflict', `${name} was ended and does not start: ${cause}`)
  }
}

/** Definitions are the same for all tenants, so every operator may read them. */
export async function definitionsOf(
  { gateway }: ConsoleState,
  { name }: RouteInput<'getDefinitions'>,
): Promise<readonly DefinitionDiffView[]> {
  const diff = await gateway()?.review.diff(name)
  if (!diff) throw unknownUpstream()
  return diff.definitions.map(({ id, kind, name: definition, state, hash, marks, lines, rejected }) => ({
    ...{ id, kind, name: definition, state, hash, marks, lines },
    ...(rejected && { rejected }),
  }))
}

/** The review records the decision in the audit, and what it refuses. */
export async function decideDefinition(
  { gateway }: ConsoleState,
  { name: subject, tenants }: Operator,
  { name, id, hash, accepted }: RouteInput<'decideDefinition'>,
): Promise<void> {
  const review = gateway()?.review
  if (!review) throw unknownUpstream()
  // The route checked the scope.
  const by = { subject, via: 'console', tenants: tenants.length === 0 ? 'all' : tenants, operator: true } as const
  await (accepted ? review.accept(name, [{ id, hash }], by) : review.reject(name, [{ id, hash }], by))
}

const unknownUpstream = (): RpcError => new RpcError('resourceNotFound', 'This upstream does not exist')
