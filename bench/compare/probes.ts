/** What the programs of a contender do when they are called: each probe sends real messages. */
import { createServer } from 'node:http'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { freePort, type Reply, type Running, send, withProgram } from './program.ts'

const clientInfo = { name: 'compare', version: '1' }
const legacy = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

const initialize = (protocolVersion: string): object => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion, capabilities: {}, clientInfo },
})

/** A call that carries its envelope, as 2026-07-28 wants it. */
const modernCall = (url: string, headers: Record<string, string>, params: { name: string }): Promise<Reply> =>
  send(
    url,
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': params.name, ...headers },
    {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': clientInfo,
          'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
        },
      },
    },
  )

/** The revisions in which the server of `hello.ts` answers. */
export async function revisionsOf({ url }: Running): Promise<readonly string[]> {
  const found: string[] = []
  for (const revision of legacy) {
    const { message } = await send(url, {}, initialize(revision))
    const result = message['result'] as { protocolVersion?: string } | undefined
    if (result?.protocolVersion === revision) found.push(revision)
  }
  const modern = await modernCall(url, {}, { name: 'shout', ...{ arguments: { text: 'hi' } } })
  if (JSON.stringify(modern.message['result'] ?? '').includes('HI')) found.push('2026-07-28')
  return found
}

/** Whether a web page elsewhere, or a name that was rebound to this machine, reaches the server of `hello.ts`. */
export async function refusesStrangers({ url }: Running): Promise<{ host: boolean; origin: boolean }> {
  const isRefused = async (headers: Record<string, string>): Promise<boolean> =>
    (await send(url, headers, initialize('2025-11-25'))).message['result'] === undefined
  return {
    host: await isRefused({ host: 'evil.example' }),
    origin: await isRefused({ origin: 'https://evil.example' }),
  }
}

async function connectClient(url: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client(clientInfo, { capabilities: { elicitation: { form: {} } } })
  // A client that does not ask its user.
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { confirmed: true } }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport)
  return client
}

async function textOf(url: string, headers: Record<string, string>, name: string, args: object): Promise<string> {
  try {
    const client = await connectClient(url, headers)
    try {
      return JSON.stringify(await client.callTool({ name, arguments: { ...args } }))
    } finally {
      await client.close()
    }
  } catch (error) {
    return `refused: ${String(error)}`
  }
}

/** Whether the server of `approvals.ts` runs a call because the calling client answered yes by itself. */
export async function runsOnOwnWord({ url, child }: Running, isPrinted: boolean): Promise<boolean> {
  const key = isPrinted ? await printedKey(child) : ''
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {}
  const args = { to: 'ann', amount: 1 }
  const call = { name: 'transfer', arguments: args }
  const first = (await modernCall(url, headers, call)).message['result'] as { requestState?: string } | undefined
  const inputResponses = { confirm: { action: 'accept', content: { confirmed: true } } }
  const state = first?.requestState === undefined ? {} : { requestState: first.requestState }
  const second = await modernCall(url, headers, { ...call, ...{ inputResponses }, ...state })
  const texts = [JSON.stringify(second.message), await textOf(url, headers, call.name, args)]
  return texts.some((text) => text.includes('Transferred 1 to ann'))
}

const printedKey = (child: Running['child']): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const key = /Bearer (\S+)/.exec(text)?.[1]
      if (key) resolve(key)
    })
  })

export interface OAuthFindings {
  readonly good: boolean
  readonly none: boolean
  readonly otherAudience: boolean
  readonly withoutScope: boolean
  readonly metadata: boolean
}

/** What the server of `oauth.ts` does with tokens of an issuer that is started for it. */
export async function probeOAuth(folder: string): Promise<OAuthFindings> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] }
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const metadata = { issuer, jwks_uri: `${issuer}/jwks` }
  const issuing = createServer((request, response) => {
    const body = request.url === '/jwks' ? jwks : metadata
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }).listen(port, '127.0.0.1')
  const resource = 'https://mcp.example.com/mcp'
  const token = (audience: string, scope: string): Promise<string> =>
    new SignJWT({ scope, client_id: 'compare' })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('ann')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey)
  try {
    return await withProgram(folder, 'oauth.ts', { ISSUER: issuer, RESOURCE: resource }, async ({ url }) => {
      const host = 'mcp.example.com'
      const open = (headers: Record<string, string>): Promise<Reply> =>
        send(url, { host, ...headers }, initialize('2025-11-25'))
      const call = async (headers: Record<string, string>): Promise<readonly [Reply, Reply]> => {
        const opened = await open(headers)
        const session = opened.headers['mcp-session-id']
        const more = { host, ...headers, 'mcp-protocol-version': '2025-11-25' }
        const params = { name: 'whoami', arguments: {} }
        const answered = await send(
          url,
          { ...more, ...(typeof session === 'string' && { 'mcp-session-id': session }) },
          { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
        )
        return [opened, answered]
      }
      const called = async (bearer: string): Promise<boolean> =>
        (await call({ authorization: `Bearer ${bearer}` }))[1].text.includes('"ann"')
      // Some ask for a token when a session opens, some when it calls.
      const refused = (await call({})).find(({ status }) => status === 401)
      const link = /resource_metadata="([^"]+)"/.exec(String(refused?.headers['www-authenticate']))?.[1]
      const page = link && (await send(url.replace(/\/mcp$/, new URL(link).pathname), { host }))
      return {
        good: await called(await token(resource, 'profile:read')),
        none: refused !== undefined,
        otherAudience: !(await called(await token('https://other.example/mcp', 'profile:read'))),
        withoutScope: !(await called(await token(resource, 'other:scope'))),
        metadata: page ? page.text.includes(issuer) : false,
      }
    })
  } finally {
    issuing.close()
  }
}
