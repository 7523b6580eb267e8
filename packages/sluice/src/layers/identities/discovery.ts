/**
 * Finds an issuer's key set in its metadata. The metadata must name the configured issuer to the letter. Otherwise a
 * document for another issuer on the same host could replace the keys.
 *
 * https://www.rfc-editor.org/rfc/rfc8414#section-3 and https://openid.net/specs/openid-connect-discovery-1_0.html
 */

import { isObject } from '../../core/json.ts'
import { isSafeUrl } from '../../core/loopback.ts'
import { fetchJson } from './fetch-json.ts'
import type { LocateKeys } from './jwks.ts'

/** Creates a function that returns the address of the issuer's keys. */
export function createDiscovery(issuer: string): LocateKeys {
  return async (fetch, signal) => {
    const failures: string[] = []
    for (const address of metadataAddresses(issuer))
      try {
        return keysIn(await fetchJson(address, 'application/json', fetch, signal), issuer)
      } catch (thrown) {
        failures.push(`${address}: ${thrown instanceof Error ? thrown.message : 'unreadable'}`)
      }
    throw new Error(`no metadata of the issuer (${failures.join('; ')})`)
  }
}

/** Returns the addresses in the order in which MCP clients try them too. */
function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const before = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  )
  return path === '' ? before : [...before, `${origin}${path}/.well-known/openid-configuration`]
}

function keysIn(metadata: unknown, issuer: string): string {
  if (!isObject(metadata)) throw new Error('not a JSON object')
  const { issuer: named, jwks_uri: address } = metadata
  if (named !== issuer) throw new Error('names another issuer')
  if (typeof address !== 'string' || !isSafeUrl(address)) throw new Error('has no "jwks_uri" with https')
  return address
}
