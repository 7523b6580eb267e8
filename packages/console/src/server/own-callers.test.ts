import { expect, test } from 'vitest'
import type { WatchedServer } from './console-state.ts'
import { ownCallers } from './own-callers.ts'
import { linkCredential } from './sessions.ts'

const server = (authenticated: boolean, hasTenants: boolean): WatchedServer => ({
  ...{ name: 'notes', authenticated, gauges: [], quotas: [] },
  definition: () => ({ name: 'notes', version: '1' }),
  attached: { handle: async () => null, expandScopes: undefined, toolsOf: undefined, hasTenants },
})
const operator = (name: string, tenants: readonly string[] = []) => ({ name, tenants, scopes: [] })
const key = 'operator key 1'
const withTenants = { servers: [server(true, true)], hasOwner: true }
const withoutTenants = { servers: [server(true, false)], hasOwner: true }

test('an operator is the caller of their name, in each of their tenants', () => {
  expect(ownCallers(withTenants, { operator: operator('ann', ['acme', 'globex']), credential: key })).toEqual({
    people: [
      { tenant: 'acme', subject: 'ann' },
      { tenant: 'globex', subject: 'ann' },
    ],
  })
})

test.each([
  ['the person of the link, with tenants', withTenants, linkCredential],
  ['the person of the link, without tenants', withoutTenants, linkCredential],
  ['an operator of all tenants, without tenants', withoutTenants, key],
])('%s calls in the tenant of the owner', (_, consoleState, credential) => {
  const people = [{ tenant: 'default', subject: 'ann' }]
  expect(ownCallers(consoleState, { operator: operator('ann'), credential })).toEqual({ people })
})

test.each([
  ['a link without a name', { ...withTenants, hasOwner: false }, operator('owner'), linkCredential, 'without the name'],
  ['the name of strangers', withTenants, operator('anonymous', ['acme']), key, 'without a credential'],
  ['servers without callers', { servers: [server(false, false)], hasOwner: true }, operator('ann'), key, 'not know'],
  ['tenants that no call has', withoutTenants, operator('ann', ['acme']), key, 'the calls here have none'],
  ['all tenants', withTenants, operator('ann'), key, 'your key is for all tenants'],
])('there is no caller for %s, and the reason says so', (_, consoleState, who, credential, reason) => {
  expect(ownCallers(consoleState, { operator: who, credential })).toEqual({
    people: [],
    reason: expect.stringContaining(reason),
  })
})
