/**
 * The program that the official suite runs as a client: `node client-program.ts <url>`, the scenario in the environment.
 * It uses `sluice/client` as any program would; what a scenario wants done is all that differs.
 */

import { type Client, type ClientOptions, connect, httpTransport } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import { type ClientOAuthOptions, createOAuth, type SigningKey } from 'sluice/client-oauth'

type Params = { readonly [name: string]: unknown }
type Act = (client: Client) => Promise<void>

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env
const url = process.argv.at(-1) ?? ''
const given = JSON.parse(context) as Params
const redirectUrl = 'http://localhost:3000/callback'
const sender = createNodeSender()

/** The suite's authorization server sends the browser back at once, so a request stands for the user. */
async function authorize(page: string): Promise<string> {
  const { status, headers } = await fetch(page, { redirect: 'manual' })
  const location = headers.get('location')
  if (location === null) throw new Error(`The sign-in page answered with ${status}`)
  return new URL(location, page).href
}

async function oauthOptions(): Promise<ClientOAuthOptions> {
  const client = { id: String(given['client_id']), secret: String(given['client_secret']) }
  const common = { url, sender: sender.send }
  if (scenario === 'auth/client-credentials-basic') return { ...common, grant: 'client_credentials', client }
  if (scenario === 'auth/client-credentials-jwt')
    return { ...common, grant: 'client_credentials', client: { id: client.id, privateKey: await privateKey() } }
  if (scenario === 'auth/wif-jwt-bearer')
    return {
      ...common,
      grant: 'jwt_bearer',
      client: { id: client.id },
      assertion: async () => String(given['valid_jwt']),
    }
  if (scenario === 'auth/enterprise-managed-authorization')
    return {
      ...common,
      grant: 'jwt_bearer',
      client,
      assertion: ({ issuer, resource, exchange }) =>
        exchange({
          tokenEndpoint: String(given['idp_token_endpoint']),
          clientId: String(given['idp_client_id']),
          subjectToken: String(given['idp_id_token']),
          subjectTokenType: 'urn:ietf:params:oauth:token-type:id_token',
          requestedTokenType: 'urn:ietf:params:oauth:token-type:id-jag',
          audience: issuer,
          resource,
        }),
    }
  return {
    ...common,
    redirectUrl,
    authorize,
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(scenario === 'auth/pre-registration' && { client }),
  }
}

function privateKey(): Promise<SigningKey> {
  const body = String(given['private_key_pem']).replace(/-----[^-]+-----|\s/g, '')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  return crypto.subtle.importKey('pkcs8', Buffer.from(body, 'base64'), algorithm, false, ['sign'])
}

/** The answers a person would give: the defaults of the form. */
function defaultsOf({ requestedSchema }: Params): Params {
  const { properties = {} } = (requestedSchema ?? {}) as { properties?: { [name: string]: { default?: unknown } } }
  const entries = Object.entries(properties).map(([name, property]) => [name, property.default ?? true] as const)
  return Object.fromEntries(entries)
}

const options: ClientOptions = {
  clientInfo: { name: 'sluice-conformance', version: '1.0.0' },
  handlers: {
    form: (params) => ({ action: 'accept', content: defaultsOf(params) }),
    sampling: () => ({
      role: 'assistant',
      content: { type: 'text', text: 'Paris' },
      model: 'none',
      stopReason: 'endTurn',
    }),
    roots: () => ({ roots: [{ uri: 'file:///', name: 'root' }] }),
  },
}

async function all(list: AsyncIterable<Params>): Promise<readonly Params[]> {
  const entries: Params[] = []
  for await (const entry of list) entries.push(entry)
  return entries
}

/** Lists everything and calls every tool with what the scenario names, or without arguments. */
async function callAll(client: Client): Promise<void> {
  const wanted = (Array.isArray(given['toolCalls']) ? given['toolCalls'] : []) as { name: string; arguments: Params }[]
  const tools = await all(client.tools())
  const { resources, prompts, extensions } = client.agreement.capabilities
  if (extensions) for await (const _page of client.pages('skills/list'));
  for (const { name, arguments: args } of wanted) await client.callTool(name, args)
  if (wanted.length === 0) for (const tool of tools) await client.callTool(String(tool['name']), argumentsFor(tool))
  if (prompts) for await (const { name } of client.prompts()) await client.request('prompts/get', { name })
  if (resources) for await (const { uri } of client.resources()) await client.request('resources/read', { uri })
}

const samples: { readonly [type: string]: unknown } = { string: 'x', integer: 2, number: 3, boolean: true }
function argumentsFor({ inputSchema }: Params): Params {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: { [name: string]: { type?: string } }
    required?: readonly string[]
  }
  return Object.fromEntries(required.map((name) => [name, samples[properties[name]?.type ?? 'string'] ?? 'x']))
}

const acts: { readonly [scenario: string]: Act } = {
  async initialize(client) {
    await all(client.tools())
  },
  async 'json-schema-2020-12-preservation'(client) {
    const tools = await all(client.tools())
    const [schema] = tools.map(({ inputSchema }) => inputSchema)
    for (const { name } of tools.slice(1)) await client.callTool(String(name), { schema })
  },
  async tools_call(client) {
    await client.callTool('add_numbers', { a: 5, b: 3 })
  },
}

const isAuth = scenario.startsWith('auth/')
const authorization = isAuth ? createOAuth(await oauthOptions()) : undefined
const transport = httpTransport(url, { sender: sender.send, ...(authorization && { authorization }) })
const client = await connect(transport, isAuth ? {} : options)
try {
  await (acts[scenario] ?? callAll)(client)
} finally {
  await client.close()
  sender.close()
}
