/** Checks OAuth from the client's view: the issuer's metadata, and whether audience and resource are equal. */

import type { Config } from '../config/schema.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

export async function checkOauth({ authenticate }: Config): Promise<readonly Finding[]> {
  if (!authenticate)
    return [
      note('Authentication', 'off: everyone may call', 'Remove "authenticate" from the configuration to use API keys'),
    ]
  const { resource, jwt, apiKeys } = authenticate
  const methods = [...(apiKeys ? ['API keys'] : []), ...jwt.map(({ issuer }) => `tokens of ${issuer}`)]
  const findings: Finding[] = [
    methods.length > 0
      ? good('Authentication', methods.join(', '))
      : bad('Authentication', 'no method is configured', 'Turn "apiKeys" on, or add an issuer to "jwt"'),
  ]
  if (resource) {
    const audiences = jwt.flatMap(({ audience }) => audience)
    findings.push(
      audiences.includes(resource.resource)
        ? good('Audience', resource.resource)
        : bad(
            'Audience',
            `no issuer in "jwt" has the audience ${resource.resource}`,
            'Set "audience" to the resource’s URL, because clients request tokens for it',
          ),
    )
    for (const issuer of resource.authorizationServers) findings.push(await checkIssuer(issuer))
  }
  return findings
}

/** Tries the URLs of https://www.rfc-editor.org/rfc/rfc8414#section-3 and of OpenID Connect. */
async function checkIssuer(issuer: string): Promise<Finding> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname === '/' ? '' : pathname.replace(/\/$/, '')
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  for (const url of urls) {
    const found = await fetchMetadata(url)
    if (!found) continue
    if (found.issuer !== issuer)
      return bad('Issuer', `${url} names the issuer ${found.issuer}`, `Write it exactly so: ${found.issuer}`)
    return good('Issuer', `${issuer} publishes its metadata`)
  }
  return bad(
    'Issuer',
    `${issuer} publishes no metadata`,
    `Tried ${urls.join(', ')}. Check that the URL is right and reachable from here`,
  )
}

async function fetchMetadata(url: string): Promise<{ readonly issuer: string } | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000), redirect: 'error' })
    const body = (await response.json()) as { issuer?: unknown }
    return response.ok && typeof body.issuer === 'string' ? { issuer: body.issuer } : undefined
  } catch {
    return undefined
  }
}
