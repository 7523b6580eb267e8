/** Encrypts tokens at rest: AES-256-GCM with a key in a file of this account, bound to the tenant and the provider. */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createPrivateFile } from 'sluice/node'

export interface Vault {
  seal(text: string, about: string): string
  /** Returns `undefined` if the text was not sealed here, or for another purpose. */
  open(sealed: string, about: string): string | undefined
  /** Returns a MAC over a text. */
  sign(text: string): string
}

/** Uses `FITNESS_KEY` if several processes share a database; otherwise a key file, created once. */
export function createVault(folder: string, provided: string | undefined): Vault {
  const file = join(folder, 'fitness.key')
  const secret = provided ?? createPrivateFile(file, () => randomBytes(32).toString('hex')).trim()
  if (secret.length < 32)
    throw new Error('FITNESS_KEY needs at least 32 characters (make one with: openssl rand -hex 32)')
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'sluice fitness', purpose, 32))
  const key = derive('tokens')
  const signing = derive('states')
  return {
    seal(text, about) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      )
    },
    open(sealed, about) {
      try {
        const bytes = Buffer.from(sealed, 'base64url')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(about))
        decipher.setAuthTag(bytes.subarray(-16))
        return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
    sign: (text) => createHmac('sha256', signing).update(text).digest('base64url'),
  }
}
