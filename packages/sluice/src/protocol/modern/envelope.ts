/**
 * The fields that every request of 2026-07-28 carries in `_meta`. Nothing is inferred from earlier requests or the
 * connection.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic
 */

import type { Via } from '../../core/call.ts'
import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { parseLogLevel } from '../logging.ts'
import { metaKeys, modernRevision } from '../revisions.ts'
import { checkMethodHeaders, checkVersionHeader } from './headers.ts'

const invalid = (problem: string): RpcError => new RpcError('invalidEnvelope', `Invalid params: ${problem}`)

/**
 * Checks in the order of the specification: headers against the body, the version, the rest. Returns the capabilities.
 */
export function checkEnvelope(method: string, params: Params, meta: Params, via: Via): Params {
  const version = meta[metaKeys.version]
  if (version === undefined) throw invalid(`_meta needs "${metaKeys.version}"`)
  if (typeof version !== 'string') throw invalid(`"${metaKeys.version}" must be a string`)
  if (via.transport === 'http') checkVersionHeader(via, version)
  if (version !== modernRevision)
    throw new RpcError('unsupportedVersion', `Unsupported protocol version: ${version.slice(0, 64)}`, {
      data: { supported: [modernRevision], requested: version.slice(0, 64).toWellFormed() },
    })
  if (via.transport === 'http') checkMethodHeaders(via, method, params)
  const capabilities = meta[metaKeys.capabilities]
  if (!isObject(capabilities)) throw invalid(`_meta needs "${metaKeys.capabilities}", an object (empty is fine)`)
  const level = meta[metaKeys.logLevel]
  if (level !== undefined) parseLogLevel(level)
  return capabilities
}
