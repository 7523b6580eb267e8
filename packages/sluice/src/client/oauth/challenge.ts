/** The `WWW-Authenticate` header of a refusal: where the metadata is, and which scopes are missing. */

import { omitUndefined } from '../../core/omit-undefined.ts'

export interface BearerChallenge {
  readonly resourceMetadata?: string
  readonly scope?: string
  readonly error?: string
}

const maxLength = 8192

/** Reads the Bearer challenge of a header that may hold several. Returns `{}` if there is none. */
export function parseChallenge(header: string | undefined): BearerChallenge {
  if (header === undefined || header.length > maxLength) return {}
  const start = /(?:^|,)\s*bearer(?:\s+|$)/i.exec(header)
  if (!start) return {}
  const found = new Map<string, string>()
  const pair = /\s*([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))\s*(?:,|$)/iy
  pair.lastIndex = start.index + start[0].length
  for (let match = pair.exec(header); match; match = pair.exec(header)) {
    const [, name = '', quoted, plain = ''] = match
    found.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain)
  }
  return omitUndefined({
    resourceMetadata: found.get('resource_metadata'),
    scope: found.get('scope'),
    error: found.get('error'),
  })
}
