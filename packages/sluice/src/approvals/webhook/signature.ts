/**
 * Signs and verifies messages as Standard Webhooks specifies, so that other programs can use its libraries.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */

import type { Clock } from '../../core/clock.ts'
import { toBase64 } from '../../core/seal.ts'

/** Returns a request’s header by its name. */
export type HeaderLookup = (name: string) => string | undefined | null

export interface WebhookSigner {
  /** Returns the headers of a message. */
  sign(id: string, body: string): Promise<{ readonly [name: string]: string }>
  /** Whether a holder of the secret sent exactly this message within the last few minutes. */
  verify(header: HeaderLookup, body: string): Promise<boolean>
}

/** A message that is older or newer than this counts as replayed. */
const toleranceMs = 5 * 60_000
const minSecretLength = 16

/** Takes two secrets during a rotation. The first signs, each verifies. The prefix `whsec_` marks base64. */
export function createWebhookSigner(secret: string | readonly string[], clock: Clock): WebhookSigner {
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (secrets.length === 0 || secrets.some((each) => each.length < minSecretLength))
    throw new TypeError(
      `webhook: "secret" must have at least ${minSecretLength} characters; use the output of "openssl rand -base64 32"`,
    )
  const keys = secrets.map((each) => {
    let key: ReturnType<typeof crypto.subtle.importKey> | undefined
    return () => {
      key ??= crypto.subtle.importKey('raw', bytesOf(each), { name: 'HMAC', hash: 'SHA-256' }, false, [
        'sign',
        'verify',
      ])
      return key
    }
  })
  const signed = (id: string, seconds: string, body: string): Uint8Array =>
    new TextEncoder().encode(`${id}.${seconds}.${body}`)
  return {
    async sign(id, body) {
      const seconds = String(Math.floor(clock.now() / 1000))
      const [key] = keys
      if (!key) throw new Error('No secret to sign with')
      const mac = new Uint8Array(await crypto.subtle.sign('HMAC', await key(), signed(id, seconds, body)))
      return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${toBase64(mac)}` }
    },
    async verify(header, body) {
      const [id, seconds, signatures] = ['id', 'timestamp', 'signature'].map((name) => header(`webhook-${name}`) ?? '')
      if (!id || !seconds || !signatures || !/^\d{1,12}$/.test(seconds)) return false
      if (Math.abs(Number(seconds) * 1000 - clock.now()) > toleranceMs) return false
      for (const each of signatures.split(' ').slice(0, 10)) {
        const mac = each.startsWith('v1,') ? fromBase64(each.slice(3)) : undefined
        if (!mac) continue
        // WebCrypto compares in constant time.
        for (const key of keys)
          if (await crypto.subtle.verify('HMAC', await key(), mac, signed(id, seconds, body))) return true
      }
      return false
    },
  }
}

const bytesOf = (secret: string): Uint8Array =>
  (secret.startsWith('whsec_') ? fromBase64(secret.slice(6)) : undefined) ?? new TextEncoder().encode(secret)

function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
