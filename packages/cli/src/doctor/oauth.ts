/** Checks OAuth from the client's view: the issuer's metadata and keys, and whether audience and resource are equal. */

import { accessSync, constants } from 'node:fs'
import type { Config } from '../config/schema.ts'
import { plural } from '../output.ts'
import { clockFinding } from './clock.ts'
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
  for (const each of jwt) findings.push(...(await checkKeys(each)))
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

type JwtSettings = NonNullable<Config['authenticate']>['jwt'][number]

/** Fetches or reads the keys of an issuer as the server would at the first token. */
async function checkKeys({ issuer, jwks, pemFile, secretFile }: JwtSettings): Promise<readonly Finding[]> {
  const file = pemFile ?? secretFile
  if (jwks === undefined) {
    if (file === undefined || isReadable(file)) return []
    return [
      bad('Keys', `${file} cannot be read`, `Every token of ${issuer} is refused: make it readable for this account`),
    ]
  }
  const fix = `Every token of ${issuer} is refused. Check that "jwks" is right and reachable from here`
  const response = await fetch(jwks, { signal: AbortSignal.timeout(5000), redirect: 'error' }).catch(() => undefined)
  if (!response?.ok) return [bad('Keys', `${jwks}: ${response ? `HTTP ${response.status}` : 'no response'}`, fix)]
  const date = Date.parse(response.headers.get('date') ?? '')
  const clock = Number.isNaN(date) ? [] : [clockFinding(`Clock of ${new URL(jwks).host}`, date, Date.now())]
  const body = (await response.json().catch(() => undefined)) as { keys?: unknown } | undefined
  const count = Array.isArray(body?.keys) ? body.keys.length : 0
  return [
    count === 0 ? bad('Keys', `${jwks} has no keys`, fix) : good('Keys', `${jwks}: ${plural(count, 'key')}`),
    ...clock,
  ]
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
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
