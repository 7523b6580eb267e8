/**
 * The handshake of the revisions before 2026-07-28: agrees on one, and remembers for the connection what the client
 * can do.
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
  ({ revision, params, via: { connection } }: Call): Result => {
    if (connection?.agreed)
      throw new RpcError('invalidRequest', 'Invalid request: this connection is initialized already')
    const features = featuresOf(revision)
    if (connection)
      connection.agreed = {
        revision,
        capabilities: isObject(params['capabilities']) ? params['capabilities'] : {},
        client: isObject(params['clientInfo']) ? params['clientInfo'] : {},
      }
    return {
      protocolVersion: revision,
      capabilities: capabilities(features),
      serverInfo: projectServerInfo(info, features),
      ...(instructions !== undefined && { instructions }),
    }
  }
