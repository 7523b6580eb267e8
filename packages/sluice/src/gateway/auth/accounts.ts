/**
 * What this process knows of each person's tokens at an upstream. They are sealed in the store, and read again after a
 * while, because another process may have changed them.
 */

import { createOAuth } from '../../client/oauth/oauth.ts'
import type { TokenStore } from '../../client/oauth/tokens.ts'
import { sealedTokens } from '../../client/oauth/tokens.ts'
import type { OAuth } from '../../client/oauth/types.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { readClient } from './client-source.ts'
import { exclusively } from './exclusively.ts'
import type { SignInRecords } from './records.ts'
import type { SignInOptions } from './sign-in.ts'
import type { AuthContext, Person } from './types.ts'

/** The state of one person as this process knows it. */
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

  const oauthFor = async (tokens: TokenStore, person: Person, redirectUrl?: string): Promise<OAuth> => {
    return createOAuth({
      ...{ url, tokens, clock, key: nameOf(person), clientName: 'Sluice' },
      ...omitUndefined({ redirectUrl, clientMetadataUrl, scope, allowHosts, sender, client: await client() }),
    })
  }

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
    const isSame = known !== undefined && known.text === text
    const account: UpstreamAccount = {
      ...{ text, wanted, readAt: clock.now() },
      oauth: isSame
        ? known.oauth
        : await oauthFor(
            tokensOf(person, (next) => {
              const current = accounts.get(name)
              if (current) current.text = next
            }),
            person,
          ),
    }
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
