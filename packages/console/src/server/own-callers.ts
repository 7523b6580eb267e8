/**
 * Finds the callers that an operator is. An upstream's tokens are kept per tenant and caller, so a wrong match would
 * connect the account of one person to the calls of another. In doubt there is none, and the reason is given.
 *
 * The name of an operator is the subject of their calls, as for `approver: 'owner'`. The same subject of another tenant
 * is another person, so the tenant must be certain, too.
 */

import type { Person } from 'sluice/gateway'
import { anonymous } from 'sluice/internal'
import { ownerTenant } from 'sluice/main'
import type { ConsoleState } from './console-state.ts'
import type { ConsoleCaller } from './handlers.ts'
import { linkCredential } from './sessions.ts'

/** `reason` says in words why there are none. */
export type OwnCallers =
  | { readonly people: readonly Person[]; readonly reason?: undefined }
  | { readonly people: readonly []; readonly reason: string }

/** Returns the operator as a caller, once for each of their tenants. */
export function ownCallers(
  { servers, hasOwner }: Pick<ConsoleState, 'servers' | 'hasOwner'>,
  { operator, credential }: Pick<ConsoleCaller, 'operator' | 'credential'>,
): OwnCallers {
  const { name: subject, tenants } = operator
  const isByLink = credential === linkCredential
  if (isByLink && !hasOwner)
    return noCaller('the console was started without the name that your calls have ("owner" of createConsole)')
  if (subject === anonymous.subject) return noCaller(`your name, ${subject}, is that of callers without a credential`)
  if (!servers.some(({ authenticated }) => authenticated)) return noCaller('the servers here do not know their callers')
  if (!servers.some(({ attached }) => attached?.hasTenants))
    return tenants.length === 0 || tenants.includes(ownerTenant)
      ? { people: [{ tenant: ownerTenant, subject }] }
      : noCaller('your key is for tenants, and the calls here have none')
  if (tenants.length > 0) return { people: tenants.map((tenant) => ({ tenant, subject })) }
  // The person at the terminal owns this tenant. Another operator of all tenants may call in any of them.
  if (isByLink) return { people: [{ tenant: ownerTenant, subject }] }
  return noCaller(
    'your key is for all tenants, so the console does not know in which one you call. Ask for a key of your tenant (sluice people add --tenant), or sign in from your client',
  )
}

const noCaller = (why: string): OwnCallers => ({ people: [], reason: `You cannot sign in here, because ${why}.` })
