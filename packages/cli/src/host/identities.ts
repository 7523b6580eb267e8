/**
 * Who may call a server that was just started: a key for the person at the terminal, and on demand two more to see tenants
 * and approvals with. Kept in the data folder, readable by this account alone, so that the next start prints the same.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from 'sluice'
import { apiKeys } from 'sluice'

/** Also the name under which the console's link signs in: whoever asks as `you` is asked as `you`. */
export const owner = 'you'
export const demoNames = ['alice', 'bob'] as const

export type Identities = { readonly [name: string]: string }

export async function identitiesIn(folder: string, store: Store, names: readonly string[]): Promise<Identities> {
  const file = join(folder, 'keys.json')
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Identities) : {}
  const keys = apiKeys(store)
  const good: Record<string, string> = {}
  for (const name of names) {
    const secret = kept[name]
    const caller = secret === undefined ? undefined : await keys.verify(secret, { via: here, facts: {} })
    good[name] = caller
      ? (secret ?? '')
      : (await keys.create({ subject: name, tenants: [name], label: 'made by sluice start' })).secret
  }
  writeFileSync(file, `${JSON.stringify({ ...kept, ...good }, undefined, 2)}\n`, { mode: 0o600 })
  return good
}

const here = { transport: 'memory', peer: '', header: () => undefined } as const
