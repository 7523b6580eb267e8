/**
 * Operators: people and programs with an operator key, which is a separate kind of API key. It starts with `op_` and lies
 * where the servers do not look for keys. An agent's key does not work here, and an operator's key opens no server.
 */

import type { ApiKey, ApiKeys, Clock, NewApiKey, Store } from 'sluice'
import { apiKeys } from 'sluice'
import { prefixed } from 'sluice/internal'
import type { Operator } from '../api/index.ts'

/** A permission of an operator. */
export type OperatorScope = Operator['scopes'][number]

/** A new operator key. By default it is for all `tenants`. */
export interface NewOperator {
  readonly name: string
  readonly scopes?: readonly OperatorScope[]
  readonly tenants?: readonly string[]
  readonly label?: string
  /** Milliseconds since the epoch. */
  readonly expires?: number
}

/** An operator key without its secret. */
export interface OperatorKey extends Operator {
  readonly id: string
  readonly prefix: string
  readonly label: string
  readonly created: number
  readonly expires?: number
  readonly lastUse?: number
  readonly revoked?: number
}

/** Manages operator keys, which let other people than the one at the terminal sign in. They open no server. */
export interface Operators {
  /** Creates a key. `secret` is the key itself and is shown only now. */
  create(operator: NewOperator): Promise<{ readonly secret: string; readonly key: OperatorKey }>
  list(): Promise<readonly OperatorKey[]>
  /** Changes the scopes from the next request on, also in open sessions. `false` if the key does not exist. */
  change(id: string, to: { readonly scopes: readonly OperatorScope[] }): Promise<boolean>
  /** Revokes a key and ends the sessions that were opened with it. */
  revoke(id: string): Promise<boolean>
}

export interface OperatorKeys extends Operators {
  /** Returns the current key of a secret. `undefined` if it is unknown, revoked or expired. */
  verify(secret: string): Promise<OperatorKey | undefined>
  find(id: string): Promise<OperatorKey | undefined>
}

/** Every permission. The person at the terminal has all of them. */
export const operatorScopes: readonly OperatorScope[] = [
  'approvals:decide',
  'keys:manage',
  'audit:export',
  'tools:call',
  'upstreams:manage',
]

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
      // Reads the key again, because the verified one may be five seconds old and its scopes may have changed.
      return caller && find(caller.credential.slice('key '.length))
    },
    find,
  }
}

const noRequest = { transport: 'http', peer: '', header: () => undefined } as const

function checkScopes(scopes: readonly string[]): void {
  const unknown = scopes.find((scope) => !operatorScopes.some((each) => each === scope))
  if (unknown !== undefined)
    throw new TypeError(`"scopes": "${unknown}" is not a scope of operators; use ${operatorScopes.join(', ')}`)
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
