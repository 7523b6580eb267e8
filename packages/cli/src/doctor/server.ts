/** A server by its address: a handshake in both eras, its lists, its clock, and what it tells who has no credential. */

import { ClientError, connect, httpTransport, ServerError } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import type { Environment } from 'sluice/node'
import { clientInfo } from '../client/message.ts'
import type { ConnectOptions } from '../client/open.ts'
import { headersOf } from '../client/open.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

const eras = [
  { era: 'modern', what: 'MCP 2026-07-28' },
  { era: 'legacy', what: 'MCP by initialize' },
] as const

export async function checkServer(url: string, reach: ConnectOptions, env: Environment): Promise<readonly Finding[]> {
  const findings: Finding[] = [await checkClock(url, reach, env)]
  if (findings.some(({ state }) => state === 'bad')) return findings
  let refused = false
  const sender = createNodeSender()
  for (const { era, what } of eras) {
    try {
      const client = await connect(httpTransport(url, { headers: headersOf(reach, env), sender: sender.send }), {
        clientInfo,
        era,
      })
      const { tools } = await client.request('tools/list')
      await client.close()
      const { revision, serverInfo } = client.agreement
      const { name = '?', version = '' } = serverInfo
      findings.push(
        good(what, `${revision}, ${String(name)} ${String(version)}, ${Array.isArray(tools) ? tools.length : 0} tools`),
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
  if (thrown instanceof ClientError && thrown.status === 401)
    return bad(what, 'a credential is wanted', 'Give one with --token, or make one with: sluice keys create <name>')
  if (thrown instanceof ClientError && thrown.status === 403)
    return bad(what, found, 'Host and Origin are checked: name this host in hosts, or this page in origins')
  if (era === 'modern' && (thrown instanceof ServerError || thrown instanceof ClientError))
    return note(
      what,
      `not spoken (${found})`,
      'Clients fall back to initialize; a newer server would save them the session',
    )
  return bad(what, found, 'Is this an MCP endpoint? Its path is usually /mcp')
}

/** Tokens and tickets expire: clocks that differ make them expire early, or live too long. */
async function checkClock(url: string, reach: ConnectOptions, env: Environment): Promise<Finding> {
  const response = await fetch(url, {
    method: 'POST',
    headers: headersOf(reach, env),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined)
  if (!response) return bad('Address', `nothing answers at ${url}`, 'Is the server running? Check host, port and path')
  await response.body?.cancel()
  const date = response.headers.get('date')
  if (date === null) return note('Clock', 'the server does not say its time', 'Nothing to do')
  const apart = Math.round(Math.abs(Date.now() - Date.parse(date)) / 1000)
  return apart > 30
    ? bad('Clock', `${apart} s apart`, 'Let both machines take their time from the network (NTP)')
    : good('Clock', 'in step')
}

/** Without a credential a client must learn where to get one. */
async function checkProtectedResource(url: string): Promise<Finding> {
  const { origin, pathname } = new URL(url)
  const place = `${origin}/.well-known/oauth-protected-resource${pathname}`
  const response = await fetch(place, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  if (!response?.ok)
    return note(
      'OAuth',
      'no protected-resource metadata',
      'Fine with API keys alone; for OAuth set authenticate.resource',
    )
  const body = (await response.json().catch(() => ({}))) as { resource?: unknown }
  return body.resource === url
    ? good('OAuth', `metadata names ${url}`)
    : bad(
        'OAuth',
        `metadata names ${String(body.resource)}`,
        `Clients refuse that: set authenticate.resource.resource to ${url}`,
      )
}
