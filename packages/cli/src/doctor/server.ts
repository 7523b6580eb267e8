/** Checks a server by its URL: a handshake in both eras, its tools, its clock, and its OAuth metadata. */

import { ClientError, connect, httpTransport, ServerError } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import type { Environment } from 'sluice/node'
import { clientInfo } from '../client/message.ts'
import type { ConnectOptions } from '../client/open.ts'
import { headersOf, isCredentialRefused } from '../client/open.ts'
import { plural } from '../output.ts'
import { clockFinding } from './clock.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

const eras = [
  { era: 'modern', what: 'MCP 2026-07-28' },
  { era: 'legacy', what: 'MCP by initialize' },
] as const

export async function checkServer(url: string, options: ConnectOptions, env: Environment): Promise<readonly Finding[]> {
  const findings: Finding[] = [await checkClock(url, options, env)]
  if (findings.some(({ state }) => state === 'bad')) return findings
  let refused = false
  const sender = createNodeSender()
  for (const { era, what } of eras) {
    try {
      const client = await connect(httpTransport(url, { headers: headersOf(options, env), sender: sender.send }), {
        clientInfo,
        era,
      })
      const { tools } = await client.request('tools/list')
      await client.close()
      const { revision, serverInfo } = client.agreement
      const { name = '?', version = '' } = serverInfo
      findings.push(
        good(
          what,
          `${revision}, ${String(name)} ${String(version)}, ${plural(Array.isArray(tools) ? tools.length : 0, 'tool')}`,
        ),
      )
    } catch (thrown) {
      refused ||= thrown instanceof ClientError && thrown.status === 401
      findings.push(toFinding(what, era, thrown))
    }
  }
  sender.close()
  if (refused) findings.push(await checkProtectedResource(url))
  return findings
}

function toFinding(what: string, era: 'modern' | 'legacy', thrown: unknown): Finding {
  const found = thrown instanceof Error ? thrown.message : String(thrown)
  if (thrown instanceof ClientError && isCredentialRefused(thrown))
    return bad(
      what,
      `the credential was refused${thrown.reference === undefined ? '' : ` (reference ${thrown.reference})`}`,
      'It is unknown, expired or revoked: give another with --token. The log of the server has a line with the reference',
    )
  if (thrown instanceof ClientError && thrown.status === 401)
    return bad(what, 'a credential is required', 'Give one with --token, or create one with: sluice keys create <name>')
  if (thrown instanceof ClientError && thrown.status === 403)
    return bad(what, found, 'Host and Origin are checked: add this host to "hosts", or this page to "origins"')
  if (era === 'modern' && (thrown instanceof ServerError || thrown instanceof ClientError))
    return note(
      what,
      `not supported (${found})`,
      'Clients fall back to initialize. A newer server would not need sessions',
    )
  return bad(what, found, 'Check that this is an MCP endpoint. Its path is usually /mcp')
}

/** Compares the clocks, because tokens and tickets expire too early or too late if they differ. */
async function checkClock(url: string, options: ConnectOptions, env: Environment): Promise<Finding> {
  const response = await fetch(url, {
    method: 'POST',
    headers: headersOf(options, env),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined)
  if (!response)
    return bad('Address', `no response from ${url}`, 'Check that the server is running, and check host, port and path')
  await response.body?.cancel()
  const date = response.headers.get('date')
  if (date === null) return note('Clock', 'the server sends no date', 'Nothing to do')
  return clockFinding('Clock', Date.parse(date), Date.now())
}

/** Checks the metadata from which a client without a credential learns where to get one. */
async function checkProtectedResource(url: string): Promise<Finding> {
  const { origin, pathname } = new URL(url)
  const metadataUrl = `${origin}/.well-known/oauth-protected-resource${pathname}`
  const response = await fetch(metadataUrl, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  if (!response?.ok)
    return note(
      'OAuth',
      'no protected-resource metadata',
      'Not needed for API keys. For OAuth set "authenticate.resource"',
    )
  const body = (await response.json().catch(() => ({}))) as { resource?: unknown }
  return body.resource === url
    ? good('OAuth', `the metadata names ${url}`)
    : bad(
        'OAuth',
        `the metadata names ${String(body.resource)}`,
        `Clients refuse this. Set "authenticate.resource.resource" to ${url}`,
      )
}
