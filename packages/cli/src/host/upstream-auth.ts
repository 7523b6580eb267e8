/** Credentials of each caller at an upstream, as the configuration describes them. */

import type { UpstreamAuth } from 'sluice/gateway-node'
import type { Environment } from 'sluice/node'
import { isLoopback } from 'sluice/node'
import type { Config, UpstreamAuthSettings } from '../config/schema.ts'
import { CommandError, exitCodes } from '../output.ts'
import { omitUndefined } from './omit-undefined.ts'
import { checkReferences, resolveReferences } from './references.ts'

/** The settings that decide the address of this server for browsers. */
export type AddressSettings = Pick<Config, 'host' | 'port' | 'authenticate'>

/** Returns the credentials of callers. The code for them is loaded only here. */
export async function toUpstreamAuth(
  name: string,
  { signIn: settings, exchange }: UpstreamAuthSettings,
  config: AddressSettings,
  env: Environment,
): Promise<UpstreamAuth | undefined> {
  const { exchangeTokens, signIn } = await import('sluice/gateway-auth')
  if (settings) {
    const { client, clientMetadata, scope, redirect } = settings
    return signIn({
      redirectUrl: redirect ?? redirectOf(name, config),
      ...omitUndefined({ scope, clientMetadataUrl: clientMetadata }),
      client: client && clientOf(client, `servers.${name}.auth.signIn.client`, env),
    })
  }
  if (!exchange) return undefined
  const { issuer, client, scope, audience } = exchange
  return exchangeTokens({
    ...{ issuer, ...omitUndefined({ scope, audience }) },
    client: clientOf(client, `servers.${name}.auth.exchange.client`, env),
  })
}

/** Returns a function that reads the secret when it is first used. */
function clientOf(
  { id, secret }: { readonly id: string; readonly secret?: string | undefined },
  setting: string,
  env: Environment,
): () => Promise<{ readonly id: string; readonly secret?: string }> {
  const texts = omitUndefined({ secret })
  if (secret !== undefined && !secret.includes('${'))
    throw new CommandError(
      `"${setting}.secret" contains a credential. Write \${env:NAME} instead of it, and set that variable.`,
      exitCodes.usage,
    )
  checkReferences(texts, setting, env)
  return async () => ({ id, ...(await resolveReferences(texts, setting, env)) })
}

/** Returns the page of this server that browsers come back to. */
function redirectOf(name: string, { host, port, authenticate }: AddressSettings): string {
  const path = `/${name}/sign-in/callback`
  const resource = authenticate?.resource?.resource
  if (resource !== undefined) return new URL(path, resource).href
  if (isLoopback(host) && port !== 0) return `http://127.0.0.1:${port}${path}`
  throw new CommandError(
    `"servers.${name}.auth.signIn.redirect" is missing: write the address that browsers reach, as https://mcp.example.com${path}`,
    exitCodes.usage,
  )
}
