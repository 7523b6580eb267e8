/**
 * Who may operate: people and programs with an operator key, which is an API key of a kind of its own. It lies in a part
 * of the store where the servers look for no keys, and begins with `op_`, so that an agent's key is none here and an
 * operator's opens no server.
 */

import type { Clock } from '../../core/clock.ts'
import type { Store } from '../../core/store.ts'
import { prefixed } from '../../core/store.ts'
import type { ApiKey, ApiKeys, NewApiKey } from '../../layers/identities/api-keys.ts'
import { apiKeys } from '../../layers/identities/api-keys.ts'
import type { Operator } from './api.ts'

/** Something an operator may do. */
export type OperatorScope = Operator['scopes'][number]

/** `tenants` left out: all of them. */
export interface NewOperator {
  readonly name: string
  readonly scopes?: readonly OperatorScope[]
  readonly tenants?: readonly string[]
  readonly label?: string
  /** Milliseconds since the epoch. */
  readonly expires?: number
}

/** What is told about an operator’s key. */
export interface OperatorKey extends Operator {
  readonly id: string
  readonly prefix: string
  readonly label: string
  readonly created: number
  readonly expires?: number
  readonly lastUse?: number
  readonly revoked?: number
}

/** Who may sign in besides the person at the terminal: keys of a kind that opens no server. */
export interface Operators {
  /** `secret` is the key itself, and this is the only time anybody sees it. */
  create(operator: NewOperator): Promise<{ readonly secret: string; readonly key: OperatorKey }>
  list(): Promise<readonly OperatorKey[]>
  /** What may be done with it, from the next request on, also in sessions that are open. False: no such key. */
  change(id: string, to: { readonly scopes: readonly OperatorScope[] }): Promise<boolean>
  /** Also ends the sessions that were opened with it. */
  revoke(id: string): Promise<boolean>
}

export interface OperatorKeys extends Operators {
  /** The key a secret stands for, as it is now; `undefined` for one that is unknown, revoked or expired. */
  verify(secret: string): Promise<OperatorKey | undefined>
  find(id: string): Promise<OperatorKey | undefined>
}

const operatorScopes: readonly OperatorScope[] = ['approvals:decide', 'keys:manage', 'audit:export']

export function createOperators(store: Store, clock: Clock): OperatorKeys {
  const keys: ApiKeys = apiKeys(prefixed(store, ['console']), { prefix: 'op_', clock })
  const find = async (id: string): Promise<OperatorKey | undefined> => {
    const key = await keys.get(id)
    return key && key.revoked === undefined && (key.expires ?? 1 / 0) > clock.now() ? toOperator(key) : undefined
  }
  return {
    async create({ name, scopes = [], tenants = [], label = '', expires }) {
      checkScopes(scopes)
      const terms: NewApiKey = { subject: name, scopes, tenants, label, ...(expires !== undefined && { expires }) }
      const { secret, key } = await keys.create(terms)
      return { secret, key: toOperator(key) }
    },
    list: async () => (await keys.list({ limit: 1000 })).map(toOperator),
    async change(id, { scopes }) {
      checkScopes(scopes)
      return keys.change(id, { scopes })
    },
    revoke: (id) => keys.revoke(id),
    async verify(secret) {
      const caller = await keys.verify(secret, { facts: {}, via: noRequest })
      // Read again: what was verified may be five seconds old, and scopes may have been taken since.
      return caller && find(caller.credential.slice('key '.length))
    },
    find,
  }
}

const noRequest = { transport: 'http', peer: '', header: () => undefined } as const

function checkScopes(scopes: readonly string[]): void {
  const odd = scopes.find((scope) => !operatorScopes.some((each) => each === scope))
  if (odd !== undefined) throw new TypeError(`scopes: an operator has ${operatorScopes.join(' or ')}, not "${odd}"`)
}

const toOperator = ({ subject, scopes, revoked, expires, lastUse, ...key }: ApiKey): OperatorKey => ({
  id: key.id,
  prefix: key.prefix,
  label: key.label,
  created: key.created,
  tenants: key.tenants,
  name: subject,
  scopes: operatorScopes.filter((scope) => scopes.includes(scope)),
  ...(expires !== undefined && { expires }),
  ...(lastUse !== undefined && { lastUse }),
  ...(revoked !== undefined && { revoked }),
})
