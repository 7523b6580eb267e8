/** The sign-ins of the operator at upstreams. Each operator reaches only their own. */

import { RpcError } from 'sluice'
import type { Person, SignIns, UpstreamSignIn } from 'sluice/gateway'
import type { SignInOrigin } from 'sluice/internal'
import { isSafeUrl } from 'sluice/internal'
import type { OwnSignIns, RouteInput, RouteOutput } from '../api/index.ts'
import type { ConsoleState } from './console-state.ts'
import type { ConsoleCaller } from './handlers.ts'
import { ownCallers } from './own-callers.ts'

/** Returns the sign-ins of the operator, by upstream. Upstreams without sign-ins are absent. */
export async function ownSignIns(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
): Promise<ReadonlyMap<string, OwnSignIns>> {
  const signIns = consoleState.gateway()?.signIns
  const names = signIns?.upstreams() ?? []
  if (!signIns || names.length === 0) return new Map()
  const { people, reason } = ownCallers(consoleState, caller)
  const lists = await Promise.all(
    people.map(async (person) => ({ tenant: person.tenant, states: await signIns.list(person) })),
  )
  const accountsOf = (name: string): OwnSignIns['accounts'] =>
    lists.flatMap(({ tenant, states }) =>
      states.filter(({ upstream }) => upstream === name).map((state) => toAccount(tenant, state)),
    )
  const common = { caller: caller.operator.name, ...(reason !== undefined && { reason }) }
  return new Map(names.map((name) => [name, { ...common, accounts: accountsOf(name) }]))
}

/** Names that an upstream or its authorization server chose may be long. */
const maxChars = 300

const toAccount = (
  tenant: string,
  { state, issuer, scope, expiresAt, wantsMore }: UpstreamSignIn,
): OwnSignIns['accounts'][number] => ({
  ...{ tenant, state },
  ...(issuer !== undefined && { issuer: issuer.slice(0, maxChars) }),
  ...(scope !== undefined && { scope: scope.slice(0, maxChars) }),
  ...(expiresAt !== undefined && { expiresAt }),
  ...(wantsMore && { wantsMore }),
})

export async function startSignIn(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  input: RouteInput<'startUpstreamSignIn'>,
): Promise<RouteOutput<'startUpstreamSignIn'>> {
  const { signIns, person, origin } = ownSignIn(consoleState, caller, input)
  const { url } = await signIns.start(person, input.name, origin)
  // The page makes a link of it, and an `UpstreamAuth` of others may not have checked it.
  if (!isSafeUrl(url)) throw new RpcError('upstreamUnavailable', `The sign-in page of ${input.name} is not https`)
  return { url }
}

export async function confirmSignIn(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  input: RouteInput<'confirmUpstreamSignIn'>,
): Promise<void> {
  const { signIns, person, origin } = ownSignIn(consoleState, caller, input)
  await signIns.confirm(person, input.name, input.code, origin)
}

export async function endSignIn(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  input: RouteInput<'endUpstreamSignIn'>,
): Promise<void> {
  const { signIns, person, origin } = ownSignIn(consoleState, caller, input)
  await signIns.revoke(person, input.name, origin)
}

interface OwnSignIn {
  readonly signIns: SignIns
  readonly person: Person
  readonly origin: SignInOrigin
}

/** The subject comes from the session. The request chooses only among the operator's own tenants. */
function ownSignIn(
  consoleState: ConsoleState,
  caller: ConsoleCaller,
  { name, tenant }: { readonly name: string; readonly tenant: string },
): OwnSignIn {
  const signIns = consoleState.gateway()?.signIns
  if (!signIns?.upstreams().includes(name))
    throw new RpcError('resourceNotFound', 'This upstream does not exist, or has no sign-in')
  const { people, reason = 'You have no calls in this tenant.' } = ownCallers(consoleState, caller)
  const person = people.find((each) => each.tenant === tenant)
  if (!person) throw new RpcError('forbidden', reason)
  return { signIns, person, origin: { via: 'console', credential: caller.credential } }
}
