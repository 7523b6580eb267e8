/**
 * The start of a pruned chain: the position after the last removed record, signed with a key derived from the server's
 * secret. A process that can only write to the store can remove rows, but cannot sign a checkpoint that hides it.
 *
 * Stored as the signature, a space and the signed JSON. The tenant is signed too, so that another tenant's checkpoint
 * does not fit.
 */

import { isObject } from '../core/json.ts'
import type { DerivedKey } from '../core/seal.ts'
import { deriveKey, fromBase64Url, toBase64Url } from '../core/seal.ts'
import type { Key, Store } from '../core/store.ts'
import type { ChainPosition } from './chain-layout.ts'

/**
 * The problem of a chain: `altered` (changed or moved), `missing`, `inserted` (does not belong there), or `unsigned` (a
 * checkpoint that none of the secrets signed).
 */
export type ChainProblem = 'altered' | 'missing' | 'inserted' | 'unsigned'
/** The first record that is not as it was written. */
export interface Defect {
  readonly seq: number
  readonly problem: ChainProblem
}

export interface Checkpoint extends ChainPosition {
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
  /** The first defect among the pruned records, if an operator forced the pruning. */
  readonly defect?: Defect
}

export interface StoredCheckpoint extends Checkpoint {
  readonly text: string
}

export const checkpointKey = (tenant: string): Key => ['audit', 'checkpoints', tenant]

/** Reads a checkpoint without checking its signature. That is enough for a writer, but never for a verdict. */
export async function readCheckpoint(store: Store, tenant: string): Promise<StoredCheckpoint | undefined> {
  const text = await store.get(checkpointKey(tenant))
  return text === undefined ? undefined : parse(text)
}

export interface CheckpointSigner {
  sign(tenant: string, checkpoint: Checkpoint): Promise<string>
  /** Returns `newest` if the current secret signed it, `older` if another valid secret did. */
  check(tenant: string, stored: StoredCheckpoint): Promise<'newest' | 'older' | undefined>
}

export function createSigner(secrets: () => readonly string[]): CheckpointSigner {
  let derived: Promise<readonly DerivedKey[]> | undefined
  const keys = (): Promise<readonly DerivedKey[]> => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256', length: 256 }
    derived ??= Promise.all(secrets().map((secret) => deriveKey(secret, 'audit', algorithm, ['sign', 'verify'])))
    return derived
  }
  return {
    async sign(tenant, checkpoint) {
      const [key] = await keys()
      if (!key) throw new TypeError('An audit checkpoint cannot be signed without a secret: set "secret"')
      const body = JSON.stringify(checkpoint)
      const signature = await crypto.subtle.sign('HMAC', key, signedBytes(tenant, body))
      return `${toBase64Url(new Uint8Array(signature))} ${body}`
    },
    async check(tenant, { text }) {
      const space = text.indexOf(' ')
      const signature = fromBase64Url(text.slice(0, space))
      const body = signedBytes(tenant, text.slice(space + 1))
      for (const [at, key] of (await keys()).entries())
        if (await crypto.subtle.verify('HMAC', key, signature, body)) return at === 0 ? 'newest' : 'older'
      return undefined
    },
  }
}

const encoder = /* @__PURE__ */ new TextEncoder()
const signedBytes = (tenant: string, body: string): Uint8Array => encoder.encode(JSON.stringify([tenant, body]))

/**
 * Parses a checkpoint. An unreadable one counts as one at the start, so that its signature is found wrong and reported.
 */
function parse(text: string): StoredCheckpoint {
  const unreadable = { seq: 0, hash: '', bytes: 0, at: 0, text }
  try {
    const value: unknown = JSON.parse(text.slice(text.indexOf(' ') + 1))
    if (!isObject(value)) return unreadable
    const { seq, hash, bytes, at, defect } = value
    if (typeof seq !== 'number' || typeof hash !== 'string' || typeof bytes !== 'number' || typeof at !== 'number')
      return unreadable
    return { seq, hash, bytes, at, text, ...(isDefect(defect) && { defect }) }
  } catch {
    return unreadable
  }
}

const problems: readonly unknown[] = ['altered', 'missing', 'inserted', 'unsigned'] satisfies readonly ChainProblem[]
const isDefect = (value: unknown): value is Defect =>
  isObject(value) && typeof value['seq'] === 'number' && problems.includes(value['problem'])
