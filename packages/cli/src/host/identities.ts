/**
 * Who may call a server that was just started: a key for the person at the terminal, and on demand two more to see tenants
 * and approvals with. Kept in the data folder, readable by this account alone, so that the next start prints the same.
 */

import { join } from 'node:path'
import type { Store } from 'sluice'
import { apiKeys } from 'sluice'
import { ownerTenant } from 'sluice/main'
import { readPrivateFile, replacePrivateFile } from 'sluice/node'
import { isTree } from '../config/tree.ts'
import { CommandError } from '../output.ts'

/** Also the name under which the console's link signs in: whoever asks as `you` is asked as `you`. */
export const owner = 'you'
export const demoNames = ['alice', 'bob'] as const

export type Identities = { readonly [name: string]: string }

export async function identitiesIn(folder: string, store: Store, names: readonly string[]): Promise<Identities> {
  const file = join(folder, 'keys.json')
  const kept = readIdentities(file)
  const keys = apiKeys(store)
  const good: Record<string, string> = {}
  for (const name of names) {
    const secret = kept[name]
    const caller = secret === undefined ? undefined : await keys.verify(secret, { via: noRequest, facts: {} })
    // The owner's key opens what the owner keeps over stdio and by imports: one person, one memory.
    const tenant = name === owner ? ownerTenant : name
    good[name] = caller
      ? (secret ?? '')
      : (await keys.create({ subject: name, tenants: [tenant], label: 'made by sluice start' })).secret
  }
  replacePrivateFile(file, `${JSON.stringify({ ...kept, ...good }, undefined, 2)}\n`)
  return good
}

function readIdentities(file: string): Identities {
  const text = readPrivateFile(file)
  if (text === undefined) return {}
  try {
    const kept: unknown = JSON.parse(text)
    if (isTree(kept) && Object.values(kept).every((key) => typeof key === 'string')) return kept as Identities
  } catch {
    // Said below, with what to do.
  }
  throw new CommandError(
    `${file} does not hold keys by name. Restore it, or remove it: then new keys are made and printed.`,
  )
}

const noRequest = { transport: 'memory', peer: '', header: () => undefined } as const
