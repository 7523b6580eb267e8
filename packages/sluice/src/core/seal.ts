/**
 * State that travels through the client and comes back unchanged. It is encrypted, bound to its call, and expires.
 *
 * HKDF derives a key per purpose from one secret. AES-GCM has the binding as additional data, so state of another
 * caller, tool or argument does not open. While secrets rotate there are two: the first one seals and both open.
 */

import type { Clock } from './clock.ts'
import { RpcError } from './error.ts'
import { isObject } from './json.ts'
import { lazy } from './lazy.ts'
import type { Key } from './store.ts'

export interface Seal {
  seal(value: unknown, bound: Key, ttlMs: number): Promise<string>
  /**
   * Throws `invalidParams` with one text for every cause, so that a client does not learn which part of a forgery was
   * wrong.
   */
  open(text: string, bound: Key): Promise<unknown>
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/**
 * Creates a seal. `purpose` is a word and the server's name (`state weather`), so that another use or another server
 * with the same secret cannot open it. `secrets` is called on first use, because workerd forbids randomness at module
 * scope.
 */
export function createSeal(secrets: () => readonly string[], purpose: string, clock: Clock): Seal {
  const ready = lazy(() =>
    Promise.all(secrets().map((secret) => deriveKey(secret, purpose, aes, ['encrypt', 'decrypt']))),
  )
  return {
    async seal(value, bound, ttlMs) {
      const [key] = await ready()
      if (!key) throw new Error('No secret to seal with: set "secret"')
      // Random, because processes share the key but no counter. This is safe for 2^32 seals per purpose; then the
      // secret must change.
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const plain = encode(JSON.stringify({ value, until: clock.now() + ttlMs }))
      const sealed = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: toAdditionalData(bound) },
        key,
        plain,
      )
      return `${toBase64Url(iv)}.${toBase64Url(new Uint8Array(sealed))}`
    },
    async open(text, bound) {
      const [iv, sealed] = text.split('.', 2).map(fromBase64Url)
      if (iv?.length === 12 && sealed && `${toBase64Url(iv)}.${toBase64Url(sealed)}` === text)
        for (const key of await ready()) {
          const opened = await crypto.subtle
            .decrypt({ name: 'AES-GCM', iv, additionalData: toAdditionalData(bound) }, key, sealed)
            .then((plain): unknown => JSON.parse(new TextDecoder().decode(new Uint8Array(plain))))
            .catch(() => undefined)
          if (isObject(opened) && typeof opened['until'] === 'number' && opened['until'] > clock.now())
            return opened['value']
        }
      throw new RpcError(
        'invalidParams',
        'requestState is not valid for this call, or has expired: call again without it',
      )
    },
  }
}

/** Encodes the binding as JSON instead of joining it, because `['a', 'bc']` and `['ab', 'c']` must differ. */
const toAdditionalData = (bound: Key): Uint8Array => encode(JSON.stringify(bound))

const aes = { name: 'AES-GCM', length: 256 }

type Derive = typeof crypto.subtle.deriveKey
/** A WebCrypto key, under the name that the runtime's types give it. */
export type DerivedKey = Awaited<ReturnType<Derive>>

/** Derives the key of a secret for one purpose. No other purpose's key opens what is made with it. */
export async function deriveKey(
  secret: string,
  purpose: string,
  algorithm: Parameters<Derive>[2],
  usages: Parameters<Derive>[4],
): Promise<DerivedKey> {
  const base = await crypto.subtle.importKey('raw', encode(secret), 'HKDF', false, ['deriveKey'])
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(32), info: encode(`sluice ${purpose}`) }
  return crypto.subtle.deriveKey(parameters, base, algorithm, false, usages)
}

export const toBase64 = (bytes: Uint8Array): string => {
  let binary = ''
  // In slices, because spreading a large array into arguments overflows the stack.
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192))
  return btoa(binary)
}
export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

export const fromBase64Url = (text: string): Uint8Array => {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (char) => char.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
