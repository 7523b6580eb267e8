/** What a connection keeps of the handshake of the revisions before 2026-07-28. */

import type { Params } from './json.ts'
import { isObject } from './json.ts'

export interface Agreement {
  readonly revision: string
  readonly capabilities: Params
  readonly client: Params
}

/**
 * The capabilities, and their members, that decide what a client is asked. Nothing else is stored. The handshake is
 * public, so a client's data would otherwise stay in memory for as long as its session lives.
 */
const knownMembers = { elicitation: ['form', 'url'], sampling: ['tools', 'context'], roots: ['listChanged'] } as const

const maxInfoLength = 128

/** Returns the part of the parameters of `initialize` that is kept. */
export const agreementOf = (revision: string, { capabilities, clientInfo }: Params): Agreement => ({
  revision,
  capabilities: knownCapabilities(capabilities),
  client: knownInfo(clientInfo),
})

function knownCapabilities(capabilities: unknown): Params {
  const known: { [name: string]: Params } = {}
  for (const [name, members] of Object.entries(knownMembers)) {
    const declared = isObject(capabilities) ? capabilities[name] : undefined
    if (!isObject(declared)) continue
    const present = members.filter((member) => Object.hasOwn(declared, member))
    known[name] = Object.fromEntries(present.map((member) => [member, isObject(declared[member]) ? {} : false]))
  }
  return known
}

const knownInfo = (clientInfo: unknown): Params =>
  Object.fromEntries(
    ['name', 'version'].flatMap((name) => {
      const text = isObject(clientInfo) ? clientInfo[name] : undefined
      return typeof text === 'string' ? [[name, copyOf(text.slice(0, maxInfoLength))]] : []
    }),
  )

/** Copies a string, because a slice keeps the whole text it was cut from in memory. */
const copyOf = (text: string): string => JSON.parse(JSON.stringify(text.toWellFormed()))
