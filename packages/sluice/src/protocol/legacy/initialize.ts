/**
 * The handshake of the revisions before 2026-07-28. It agrees on a revision and stores the client's capabilities for
 * the connection.
 *
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */

import type { Result } from '../../core/answer.ts'
import type { Call } from '../../core/call.ts'
import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { ServerInfo } from '../definition.ts'
import { projectServerInfo } from '../project.ts'
import type { Features } from '../revisions.ts'
import { featuresOf } from '../revisions.ts'

export const initialize =
  (info: ServerInfo, instructions: string | undefined, capabilities: (features: Features) => Params) =>
  async ({ revision, params, via: { connection } }: Call): Promise<Result> => {
    if (connection?.state.agreed)
      throw new RpcError('invalidRequest', 'Invalid request: this connection is initialized already')
    const features = featuresOf(revision)
    const agreed = { revision, capabilities: knownCapabilities(params), client: knownInfo(params) }
    await connection?.change({ kind: 'agree', agreed })
    return {
      protocolVersion: revision,
      capabilities: capabilities(features),
      serverInfo: projectServerInfo(info, features),
      ...(instructions !== undefined && { instructions }),
    }
  }

/**
 * The capabilities, and their members, that decide what a client is asked. Nothing else is stored. The handshake is
 * public, so a client's data would otherwise stay in memory for as long as its session lives.
 */
const knownMembers = { elicitation: ['form', 'url'], sampling: ['tools', 'context'], roots: ['listChanged'] } as const

function knownCapabilities({ capabilities }: Params): Params {
  const known: { [name: string]: Params } = {}
  for (const [name, members] of Object.entries(knownMembers)) {
    const declared = isObject(capabilities) ? capabilities[name] : undefined
    if (!isObject(declared)) continue
    const present = members.filter((member) => Object.hasOwn(declared, member))
    known[name] = Object.fromEntries(present.map((member) => [member, isObject(declared[member]) ? {} : false]))
  }
  return known
}

const maxInfoLength = 128
/** Copies a string, because a slice keeps the whole text it was cut from in memory. */
const copyOf = (text: string): string => JSON.parse(JSON.stringify(text.toWellFormed()))

const knownInfo = ({ clientInfo }: Params): Params =>
  Object.fromEntries(
    ['name', 'version'].flatMap((name) => {
      const text = isObject(clientInfo) ? clientInfo[name] : undefined
      return typeof text === 'string' ? [[name, copyOf(text.slice(0, maxInfoLength))]] : []
    }),
  )
