/**
 * The records of sign-ins at one upstream, in the store of the gateway. Everything secret is sealed with the server's
 * secret and bound to the tenant and the caller, so a copied row opens for no other caller.
 *
 * tokens/<tenant>/<subject>   the tokens; empty after the authorization server ended them
 * link/<tenant>/<subject>     the sign-in that was begun, with its verifier
 * state/<hash>                whose sign-in a browser comes back from
 * held/<tenant>/<subject>     tokens that wait for the code of the page
 * wanted/<tenant>/<subject>   the challenge of an upstream that wants more scopes
 * lister                      the person whose sign-in lists the definitions
 */

import type { SavedSignIn, TextStore } from '../../client/oauth/tokens.ts'
import type { SignIn } from '../../client/oauth/types.ts'
import { digest } from '../../core/digest.ts'
import { isObject } from '../../core/json.ts'
import { createSeal } from '../../core/seal.ts'
import type { Key } from '../../core/store.ts'
import type { AuthContext, Person } from './types.ts'

/** A person needs time to sign in, and a link must not work for long. */
const linkMs = 15 * 60_000
const heldMs = 10 * 60_000
const wantedMs = 24 * 60 * 60_000

export interface Begun {
  readonly signIn: SignIn
  readonly redirectUrl: string
}

/** Tokens that wait for the code, and how often it was typed wrongly. */
export interface Held {
  readonly saved: SavedSignIn
  readonly digest: string
  readonly tries: number
}

export interface SignInRecords {
  /** The sealed tokens of a person as text, for `sealedTokens`. */
  readonly texts: (person: Person) => TextStore
  /** Returns the sealed tokens as they are stored; `undefined` if there are none. */
  tokenText(person: Person): Promise<string | undefined>
  /** Marks tokens as ended, if they are still these. Another process may have refreshed them. */
  endTokens(person: Person, text: string): Promise<void>
  begin(person: Person, begun: Begun): Promise<void>
  begun(person: Person): Promise<Begun | undefined>
  /** Returns the sign-in that a state belongs to, once. */
  takeState(state: string): Promise<(Begun & { readonly person: Person }) | undefined>
  hold(person: Person, held: Held): Promise<void>
  held(person: Person): Promise<Held | undefined>
  /** Replaces the held tokens, or removes them. Of two processes one succeeds. */
  changeHeld(person: Person, from: Held, to: Held | undefined): Promise<boolean>
  wanted(person: Person): Promise<string | undefined>
  want(person: Person, challenge: string | undefined): Promise<void>
  lister(): Promise<Person | undefined>
  /** Makes the person the lister if there is none. */
  claimLister(person: Person): Promise<void>
  releaseLister(person: Person): Promise<void>
  /** Removes what a person began and did not finish. */
  forgetBegun(person: Person): Promise<void>
}

export function createRecords({ store, secrets, clock, upstream, url }: AuthContext): SignInRecords {
  const seal = createSeal(secrets, `sign-in ${upstream} ${url}`, clock)
  const keyOf = (kind: string, { tenant, subject }: Person): Key => [kind, tenant, subject]
  /** The stored text of what was read, so that a swap replaces exactly that. */
  const texts = new WeakMap<Held, string>()

  async function put(kind: string, person: Person, value: object, ttlMs: number): Promise<void> {
    const key = keyOf(kind, person)
    await store.set(key, await seal.seal(value, key, ttlMs), ttlMs)
  }
  async function read(kind: string, person: Person): Promise<{ text: string; value: unknown } | undefined> {
    const key = keyOf(kind, person)
    const text = await store.get(key)
    if (text === undefined || text === '') return undefined
    // Expired, or sealed with a secret that is no longer there: the person begins again.
    const value = await seal.open(text, key).catch(() => undefined)
    return isObject(value) ? { text, value } : undefined
  }
  const stateKey = (state: string): Key => ['state', digest(state)]

  async function begun(person: Person): Promise<Begun | undefined> {
    return (await read('link', person))?.value as Begun | undefined
  }

  return {
    texts: (person) => ({
      get: async () => (await store.get(keyOf('tokens', person))) || undefined,
      set: (_, text) => store.set(keyOf('tokens', person), text),
      delete: () => store.delete(keyOf('tokens', person)),
    }),
    tokenText: async (person) => (await store.get(keyOf('tokens', person))) || undefined,
    async endTokens(person, text) {
      await store.swap(keyOf('tokens', person), text, '')
    },
    async begin(person, value) {
      await put('link', person, value, linkMs)
      await store.set(stateKey(value.signIn.state), personText(person), linkMs)
    },
    begun,
    async takeState(state) {
      const text = await store.get(stateKey(state))
      if (text === undefined || text === 'used') return undefined
      if (!(await store.swap(stateKey(state), text, 'used', linkMs))) return undefined
      const person = parsePerson(text)
      const found = await begun(person)
      // The person may have begun anew, and then only the newer link counts.
      if (found?.signIn.state !== state) return undefined
      await store.delete(keyOf('link', person))
      return { ...found, person }
    },
    hold: (person, held) => put('held', person, held, heldMs),
    async held(person) {
      const found = await read('held', person)
      if (!found) return undefined
      const held = found.value as Held
      texts.set(held, found.text)
      return held
    },
    async changeHeld(person, from, to) {
      const key = keyOf('held', person)
      const text = texts.get(from)
      const next = to ? await seal.seal(to, key, heldMs) : ''
      if (to) texts.set(to, next)
      return text !== undefined && store.swap(key, text, next, heldMs)
    },
    wanted: async (person) => (await store.get(keyOf('wanted', person))) || undefined,
    async want(person, challenge) {
      if (challenge === undefined) await store.delete(keyOf('wanted', person))
      else await store.set(keyOf('wanted', person), challenge.slice(0, 4096), wantedMs)
    },
    async lister() {
      const text = await store.get(['lister'])
      return text ? parsePerson(text) : undefined
    },
    async claimLister(person) {
      await store.swap(['lister'], undefined, personText(person))
    },
    async releaseLister(person) {
      if ((await store.get(['lister'])) === personText(person)) await store.delete(['lister'])
    },
    async forgetBegun(person) {
      for (const kind of ['link', 'held', 'wanted']) await store.delete(keyOf(kind, person))
    },
  }
}

const personText = ({ tenant, subject }: Person): string => JSON.stringify([tenant, subject])
function parsePerson(text: string): Person {
  const [tenant = '', subject = ''] = JSON.parse(text) as readonly string[]
  return { tenant, subject }
}
