/**
 * The API keys of `sluice start`: one for the person at the terminal, and two demo keys for trying tenants and approvals.
 * They are kept in the data folder, readable only by this account, so that the next start prints the same ones.
 */

import { join } from 'node:path'
import type { Store } from 'sluice'
import { apiKeys } from 'sluice'
import { ownerTenant } from 'sluice/main'
import { readPrivateFile, replacePrivateFile } from 'sluice/node'
import { isTree } from '../config/tree.ts'
import { CommandError } from '../output.ts'

/** The name of the key's owner and of the person who signs in by the console's link. */
export const owner = 'you'
export const demoNames = ['alice', 'bob'] as const

export type Identities = { readonly [name: string]: string }

export async function identitiesIn(folder: string, store: Store, names: readonly string[]): Promise<Identities> {
  const file = join(folder, 'keys.json')
  const stored = readIdentities(file)
  const keys = apiKeys(store)
  const valid: Record<string, string> = {}
  for (const name of names) {
    const secret = stored[name]
    const caller = secret === undefined ? undefined : await keys.verify(secret, { via: noRequest, facts: {} })
    // The owner's key opens the same tenant as stdio and imports, so that one person has one memory.
    const tenant = name === owner ? ownerTenant : name
    valid[name] = caller
      ? (secret ?? '')
      : (await keys.create({ subject: name, tenants: [tenant], label: 'made by sluice start' })).secret
  }
  replacePrivateFile(file, `${JSON.stringify({ ...stored, ...valid }, undefined, 2)}\n`)
  return valid
}

function readIdentities(file: string): Identities {
  const text = readPrivateFile(file)
  if (text === undefined) return {}
  try {
    const stored: unknown = JSON.parse(text)
    if (isTree(stored) && Object.values(stored).every((key) => typeof key === 'string')) return stored as Identities
  } catch {
    // Reported below, with what to do.
  }
  throw new CommandError(`${file} does not hold keys by name. Restore it, or remove it to get new keys.`)
}

const noRequest = { transport: 'memory', peer: '', header: () => undefined } as const
