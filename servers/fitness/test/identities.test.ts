/**
 * Many athletes on one server over HTTP, with API keys or with tokens of a real authorization server that the official
 * client discovers. The list of tools is public; no athlete sees another's data.
 */

import type { VersionNegotiationMode } from '@modelcontextprotocol/client'
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { apiKeys, authenticate, memoryStore, tenants } from 'sluice'
import { jwt } from 'sluice/jwt'
import { nodeClock } from 'sluice/node'
import { elicitation } from 'sluice/plugins'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { AuthenticatedServer } from '../../../test/kit/servers/authenticated.fixture.ts'
import { serveAuthenticated } from '../../../test/kit/servers/authenticated.fixture.ts'
import type { Issuer } from '../../../test/kit/servers/issuer.fixture.ts'
import { startIssuer } from '../../../test/kit/servers/issuer.fixture.ts'
import { open } from '../src/index.ts'
import { base64, gpxFile } from './activity-files.fixture.ts'
import { aFolder } from './server.fixture.ts'

const silent = { info() {}, warn() {}, error() {} }
const keys = apiKeys(memoryStore())
const resources: string[] = []
let issuer: Issuer

beforeAll(async () => {
  issuer = await startIssuer(resources, 'fitness', {
    alice: { tenants: ['alice'] },
    bob: { tenants: ['bob'] },
    coach: { tenants: ['team-a', 'team-b'] },
    stranger: {},
  })
})
afterAll(() => issuer.close())

async function serveFitness(): Promise<AuthenticatedServer> {
  const opened = await open({ folder: aFolder(), env: {}, logger: silent, clock: nodeClock })
  const { publicMethods = [] } = opened
  const serving = await serveAuthenticated({
    definition: opened.definition,
    authorizationServers: [issuer.url],
    use: [elicitation(), tenants({ claim: 'tenants' })],
    authenticate: (url) =>
      authenticate({
        verifiers: [keys, jwt({ jwks: `${issuer.url}/jwks`, issuer: issuer.url, audience: url })],
        publicMethods,
      }),
  })
  resources.push(serving.url)
  onTestFinished(async () => {
    await serving.close()
    await opened.close()
  })
  return serving
}

interface ConnectOptions {
  /** A client id at the authorization server, for which the client gets a token when the server asks for one. */
  readonly client?: string
  readonly key?: string
  readonly headers?: { readonly [name: string]: string }
  readonly mode?: VersionNegotiationMode
}

async function connect(
  { url }: AuthenticatedServer,
  { client: clientId, key, headers = {}, mode = 'legacy' }: ConnectOptions,
): Promise<Client> {
  const client = new Client({ name: 'a-client', version: '1.0.0' }, { versionNegotiation: { mode } })
  const authProvider =
    clientId === undefined
      ? undefined
      : new ClientCredentialsProvider({ clientId, clientSecret: issuer.client.secret, expectedIssuer: issuer.url })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      ...(authProvider && { authProvider }),
      requestInit: { headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) } },
    }),
  )
  onTestFinished(() => client.close())
  return client
}

const athletes = ['alice', 'bob', 'carol'] as const
type Athlete = (typeof athletes)[number]
const markerOf = (athlete: Athlete): string => `the secret loop of ${athlete}`

/** Stores a name, a goal and one activity each at the same minute, so that only the tenant tells the athletes apart. */
async function addPrivateData(client: Client, athlete: Athlete): Promise<void> {
  const name = markerOf(athlete)
  const content = base64(gpxFile({ name }))
  const goal = { title: name, goal_type: 'distance', target_value: 100, target_date: '2100-01-01' }
  await client.callTool({ name: 'import_activities', arguments: { files: [{ name: 'a.gpx', content }] } })
  await client.callTool({ name: 'calculate_personalized_zones', arguments: { name } })
  await client.callTool({ name: 'set_goal', arguments: goal })
}

interface VisibleData {
  readonly text: string
  readonly activity: string
  readonly goal: string
}

/** Reads everything, with every read-only tool and every resource. */
async function readEverything(client: Client): Promise<VisibleData> {
  const call = async (name: string, args: object = {}): Promise<Record<string, unknown>> => {
    const result = await client.callTool({ name, arguments: { ...args } })
    expect(result, name).toMatchObject({ isError: false })
    return result.structuredContent as Record<string, unknown>
  }
  const list = await call('get_activities', { limit: 500, mode: 'detailed' })
  const [{ id: activity } = { id: '' }] = list['activities'] as { id: string }[]
  const goals = await call('track_progress')
  const [{ goal_id: goal } = { goal_id: '' }] = goals['goals'] as { goal_id: string }[]
  const all: unknown[] = [list, goals]
  for (const name of ['get_athlete', 'get_stats', 'get_connection_status', 'calculate_fitness_score'])
    all.push(await call(name))
  for (const name of ['analyze_training_load', 'analyze_performance_trends']) all.push(await call(name))
  all.push(await call('get_activity_intelligence', { activity_id: activity }))
  all.push(await call('compare_activities', { activity_id: activity, other_id: activity }))
  const { resources } = await client.listResources()
  all.push(resources)
  for (const { uri } of resources) all.push(await client.readResource({ uri }))
  return { text: JSON.stringify(all), activity, goal }
}

describe.each(['legacy', { pin: '2026-07-28' }] as const)('with the official client, %j', (mode) => {
  test('two athletes with tokens and one with a key each find all of their own data and nothing of the others', async () => {
    const serving = await serveFitness()
    const { secret: key } = await keys.create({ subject: 'carol', tenants: ['carol'] })
    const clients = {
      alice: await connect(serving, { client: 'alice', mode }),
      bob: await connect(serving, { client: 'bob', mode }),
      carol: await connect(serving, { key, mode }),
    }
    await Promise.all(athletes.map((athlete) => addPrivateData(clients[athlete], athlete)))
    const seen = Object.fromEntries(
      await Promise.all(athletes.map(async (athlete) => [athlete, await readEverything(clients[athlete])] as const)),
    ) as Record<Athlete, VisibleData>
    expect(serving.calls.filter(({ caller }) => caller.subject.endsWith(' alice')).length).toBeGreaterThan(10)

    for (const athlete of athletes)
      for (const other of athletes) {
        if (athlete === other) expect(seen[athlete].text).toContain(markerOf(athlete))
        else {
          for (const theirs of [markerOf(other), seen[other].activity, seen[other].goal])
            expect(seen[athlete].text).not.toContain(theirs)
          const { activity, goal } = seen[other]
          const client = clients[athlete]
          for (const [name, args] of [
            ['get_activity_intelligence', { activity_id: activity }],
            ['compare_activities', { activity_id: seen[athlete].activity, other_id: activity }],
            ['track_progress', { goal_id: goal }],
          ] as const)
            expect(await client.callTool({ name, arguments: args })).toMatchObject({ isError: true })
          await expect(client.readResource({ uri: `activity://${activity}` })).rejects.toThrow(/not found/i)
        }
      }

    // Data that one athlete deletes stays for the others.
    const thrown = await clients.bob.callTool({ name: 'disconnect_provider', arguments: { provider: 'files' } })
    expect(thrown).toMatchObject({ structuredContent: { removed: 1 } })
    expect(await readEverything(clients.alice)).toMatchObject({ activity: seen.alice.activity, goal: seen.alice.goal })
  })

  test('without a credential the tools are listed, and every call is refused', async () => {
    const serving = await serveFitness()
    const client = await connect(serving, { mode })
    expect((await client.listTools()).tools).toHaveLength(23)
    for (const refused of [
      () => client.callTool({ name: 'get_athlete', arguments: {} }),
      () => client.listResources(),
      () => client.readResource({ uri: 'chart://training-load' }),
      () => client.getPrompt({ name: 'weekly-review' }),
    ])
      await expect(refused()).rejects.toThrow(/Authentication required|Unauthorized|401/)
    expect(serving.calls.map(({ method }) => method)).not.toContain('tools/call')
  })
})

test("a header selects one of the caller's own teams, and no other", async () => {
  const serving = await serveFitness()
  const athlete = async (tenant: string): Promise<unknown> => {
    const client = await connect(serving, { client: 'coach', headers: { 'X-Tenant': tenant } })
    return client.callTool({ name: 'get_athlete', arguments: {} })
  }
  const a = await connect(serving, { client: 'coach', headers: { 'X-Tenant': 'team-a' } })
  await a.callTool({ name: 'calculate_personalized_zones', arguments: { name: 'Team A' } })
  expect(await athlete('team-a')).toMatchObject({ structuredContent: { name: 'Team A' } })
  expect(await athlete('team-b')).toMatchObject({ structuredContent: { name: 'Athlete' } })
  await expect(athlete('alice')).rejects.toThrow('not a member')
})

test('a caller without a tenant, or with a token for another resource, runs nothing', async () => {
  const serving = await serveFitness()
  resources.push('https://elsewhere.example/mcp')
  const stranger = await connect(serving, { client: 'stranger' })
  await expect(stranger.callTool({ name: 'get_athlete', arguments: {} })).rejects.toThrow('belongs to no tenant')
  const key = await issuer.token('https://elsewhere.example/mcp', undefined, 'alice')
  await expect(connect(serving, { key })).rejects.toThrow(/Authentication required|Unauthorized|401/)
  expect(serving.calls.map(({ method }) => method)).not.toContain('tools/call')
})
