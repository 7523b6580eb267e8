/**
 * What this process knows of each person's tokens at an upstream. They are sealed in the store, and read again after a
 * while, because another process may have changed them.
 */

import { createOAuth } from '../../client/oauth/oauth.ts'
import type { TokenStore } from '../../client/oauth/tokens.ts'
import { sealedTokens } from '../../client/oauth/tokens.ts'
import type { OAuth } from '../../client/oauth/types.ts'
import type { Clock } from '../../core/clock.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import type { Key, Store } from '../../core/store.ts'
import { readClient } from './client-source.ts'
import type { SignInRecords } from './records.ts'
import type { SignInOptions } from './sign-in.ts'
import type { AuthContext, Person } from './types.ts'

export interface UpstreamAccount {
  readonly oauth: OAuth
  text: string | undefined
  /** The challenge of an upstream that wants more scopes. */
  readonly wanted: string | undefined
  readonly readAt: number
}

/** Other processes notice a new sign-in or a revocation within this time. */
const staleMs = 5000
const maxAccounts = 10_000

export interface UpstreamAccounts {
  /** Names the tokens of a person. They are bound to it, so a row copied to another upstream or caller does not open. */
  nameOf(person: Person): string
  /** Returns the account of a person, read again after a while. A changed record starts a new one. */
  accountOf(person: Person): Promise<UpstreamAccount>
  forget(person: Person): void
  tokensOf(person: Person, changed?: (text: string | undefined) => void): TokenStore
  oauthFor(tokens: TokenStore, person: Person, redirectUrl?: string): Promise<OAuth>
}

export function createAccounts(options: SignInOptions, context: AuthContext, records: SignInRecords): UpstreamAccounts {
  const { clock, upstream, url, allowHosts, sender } = context
  const { clientMetadataUrl, scope } = options
  const accounts = new Map<string, UpstreamAccount>()
  const client = readClient(options.client, context)
  const nameOf = ({ tenant, subject }: Person): string => JSON.stringify([upstream, url, tenant, subject])

  const oauthFor = async (tokens: TokenStore, person: Person, redirectUrl?: string): Promise<OAuth> =>
    createOAuth({
      ...{ url, tokens, clock, key: nameOf(person), clientName: 'Sluice' },
      ...omitUndefined({ redirectUrl, clientMetadataUrl, scope, allowHosts, sender, client: await client() }),
    })

  function tokensOf(person: Person, changed: (text: string | undefined) => void = () => {}): TokenStore {
    const texts = records.texts(person)
    const sealed = sealedTokens(
      {
        ...texts,
        async set(key, text) {
          await texts.set(key, text)
          changed(text)
        },
      },
      context.secrets(),
      clock,
    )
    const lock = ['refreshing', person.tenant, person.subject]
    return { ...sealed, exclusive: (_, work) => exclusively(context.store, lock, clock, work) }
  }

  async function accountOf(person: Person): Promise<UpstreamAccount> {
    const name = nameOf(person)
    const known = accounts.get(name)
    if (known && clock.now() - known.readAt < staleMs) return known
    const [text, wanted] = await Promise.all([records.tokenText(person), records.wanted(person)])
    const tokens = tokensOf(person, (next) => {
      const current = accounts.get(name)
      if (current) current.text = next
    })
    const oauth = known && known.text === text ? known.oauth : await oauthFor(tokens, person)
    const account: UpstreamAccount = { text, wanted, oauth, readAt: clock.now() }
    if (accounts.size >= maxAccounts) accounts.clear()
    accounts.set(name, account)
    return account
  }
  return {
    ...{ nameOf, accountOf, tokensOf, oauthFor },
    forget(person) {
      accounts.delete(nameOf(person))
    },
  }
}

const lockMs = 30_000
const pollMs = 100
const maxPolls = lockMs / pollMs

/**
 * Runs work in one process at a time, by a lock in the store that ends by itself. Goes on without it if another process
 * holds it too long.
 */
async function exclusively<T>(store: Store, key: Key, clock: Clock, work: () => Promise<T>): Promise<T> {
  const id = crypto.randomUUID()
  for (let polls = 0; polls < maxPolls; polls++) {
    if (await store.swap(key, undefined, id, lockMs)) break
    await new Promise<void>((resolve) => clock.after(pollMs, resolve))
  }
  try {
    return await work()
  } finally {
    if ((await store.get(key)) === id) await store.delete(key)
  }
}
