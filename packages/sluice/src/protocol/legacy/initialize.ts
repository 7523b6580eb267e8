/**
 * The handshake of the revisions before 2026-07-28. It agrees on a revision and stores the client's capabilities for
 * the connection.
 *
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */

import type { Result } from '../../core/answer.ts'
import type { Call } from '../../core/call.ts'
import { invalidRequest } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import type { ServerInfo } from '../definition.ts'
import { projectServerInfo } from '../project.ts'
import type { Features } from '../revisions.ts'
import { featuresOf } from '../revisions.ts'

export const initialize =
  (info: ServerInfo, instructions: string | undefined, capabilities: (features: Features) => Params) =>
  async ({ revision, params, via: { connection } }: Call): Promise<Result> => {
    if (connection?.state.agreed) throw invalidRequest('this connection is initialized already')
    const features = featuresOf(revision)
    await connection?.change({ kind: 'agree', revision, params })
    return {
      protocolVersion: revision,
      capabilities: capabilities(features),
      serverInfo: projectServerInfo(info, features),
      ...(instructions !== undefined && { instructions }),
    }
  }
