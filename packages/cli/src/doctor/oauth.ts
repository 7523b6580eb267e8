/** What OAuth clients will find: the issuer's own metadata, and whether audience and resource are the same thing. */

import type { Config } from '../config/schema.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

export async function checkOauth({ authenticate }: Config): Promise<readonly Finding[]> {
  if (!authenticate)
    return [
      note('Authentication', 'none: everybody may call', 'Leave authenticate out of the configuration to get API keys'),
    ]
  const { resource, jwt, apiKeys } = authenticate
  const ways = [...(apiKeys ? ['API keys'] : []), ...jwt.map(({ issuer }) => `tokens of ${issuer}`)]
  const findings: Finding[] = [
    ways.length > 0
      ? good('Authentication', ways.join(', '))
      : bad('Authentication', 'no way in is configured', 'Turn apiKeys on, or add an issuer to jwt'),
  ]
  if (resource) {
    const audiences = jwt.flatMap(({ audience }) => audience)
    findings.push(
      audiences.includes(resource.resource)
        ? good('Audience', resource.resource)
        : bad(
            'Audience',
            `no issuer in jwt has the audience ${resource.resource}`,
            'Set audience to the resource’s address: clients ask for tokens by it',
          ),
    )
    for (const issuer of resource.authorizationServers) findings.push(await checkIssuer(issuer))
  }
  return findings
}

/** https://www.rfc-editor.org/rfc/rfc8414#section-3 and OpenID Connect's place for the same. */
async function checkIssuer(issuer: string): Promise<Finding> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname === '/' ? '' : pathname.replace(/\/$/, '')
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  for (const place of places) {
    const found = await fetchMetadata(place)
    if (!found) continue
    if (found.issuer !== issuer)
      return bad('Issuer', `${place} says its issuer is ${found.issuer}`, `Write it to the letter: ${found.issuer}`)
    return good('Issuer', `${issuer} publishes its metadata`)
  }
  return bad(
    'Issuer',
    `${issuer} publishes no metadata`,
    `Looked at ${places.join(', ')}. Is the address right, and reachable from here?`,
  )
}

async function fetchMetadata(place: string): Promise<{ readonly issuer: string } | undefined> {
  try {
    const response = await fetch(place, { signal: AbortSignal.timeout(5000), redirect: 'error' })
    const body = (await response.json()) as { issuer?: unknown }
    return response.ok && typeof body.issuer === 'string' ? { issuer: body.issuer } : undefined
  } catch {
    return undefined
  }
}
