/** Skills of upstreams: as they are on the endpoint of one, and apart from each other on the endpoint for all. */

import type { ServerDefinition } from 'sluice'
import { defineServer } from 'sluice'
import type { Client } from 'sluice/client'
import type { Gateway } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { skills } from 'sluice/skills'
import { expect, test } from 'vitest'
import { clientOf, namesOf, served, servedGateway } from './kit.ts'
import type { Members } from './raw-upstream.ts'
import { rawUpstream } from './raw-upstream.ts'

const skillFiles = (of: string): { readonly [path: string]: string } => ({
  'review/SKILL.md': `---\nname: review\ndescription: Reviews changes as ${of} does\n---\nRead lists/CHECKS.md.\n`,
  'review/lists/CHECKS.md': `The checks of ${of}`,
})
const withSkills = (name: string): ServerDefinition =>
  defineServer({ name, version: '1.0.0', skills: skills(skillFiles(name)) })

/** Two servers with a skill of the same URI, behind a gateway. */
async function twoReviewers(prefixes: { readonly [name: string]: string } = {}): Promise<Gateway> {
  const upstreams = await Promise.all(
    ['first', 'second'].map(async (name) => {
      const prefix = prefixes[name]
      const url = await served(withSkills(name))
      return upstream({ name, url, scope: 'shared', ...(prefix !== undefined && { prefix }) })
    }),
  )
  return gateway({ name: 'team', version: '1.0.0', startMs: 60_000, upstreams })
}

const listed = async (client: Client): Promise<Members[]> =>
  (await client.request('skills/list'))['skills'] as unknown as Members[]
const urisIn = (result: Members): unknown => (result['resources'] as Members[]).map(({ uri }) => uri)
async function textAt(client: Client, uri: string): Promise<unknown> {
  const { contents } = await client.request('resources/read', { uri })
  expect(contents).toMatchObject([{ uri }])
  return (contents as unknown as Members[])[0]?.['text']
}

test('the endpoint of one upstream serves its skills as they are', async () => {
  const team = await twoReviewers()
  const direct = await clientOf(await served(withSkills('second')))
  const client = await clientOf(await served(team.endpoints['second'] as ServerDefinition))
  expect(client.agreement.capabilities['extensions']).toEqual(direct.agreement.capabilities['extensions'])
  expect(await listed(client)).toEqual(await listed(direct))
  const uri = 'skill://review/SKILL.md'
  const [expected] = await listed(direct)
  expect(await client.request('skills/get', { uri })).toMatchObject({ skill: expected, ttlMs: 0 })
  const directory = await client.request('resources/directory/read', { uri: 'skill://review' })
  expect(urisIn(directory)).toEqual([uri, 'skill://review/lists'])
  expect(await textAt(client, 'skill://review/lists/CHECKS.md')).toBe('The checks of second')
  const unknown = { uri: 'skill://none/SKILL.md' }
  await expect(client.request('skills/get', unknown)).rejects.toMatchObject({ code: -32602 })
  await expect(client.request('resources/directory/read', unknown)).rejects.toMatchObject({ code: -32602 })
})

test('two upstreams with the same skill:// URI are not merged: each is below the name of its upstream', async () => {
  const client = await clientOf(await served(await twoReviewers()))
  expect(await listed(client)).toMatchObject(
    ['first', 'second'].map((name) => ({
      uri: `skill://${name}/review/SKILL.md`,
      frontmatter: { name: 'review', description: `Reviews changes as ${name} does` },
      resources: [{ uri: `skill://${name}/review/SKILL.md` }, { uri: `skill://${name}/review/lists/CHECKS.md` }],
    })),
  )
  expect(await namesOf(client.resources(), 'uri')).toEqual([
    'skill://first/review/SKILL.md',
    'skill://second/review/SKILL.md',
  ])
  for (const name of ['first', 'second']) {
    const uri = `skill://${name}/review/SKILL.md`
    const { skill } = await client.request('skills/get', { uri })
    expect(skill).toMatchObject({ uri, frontmatter: { description: `Reviews changes as ${name} does` } })
    const directory = await client.request('resources/directory/read', { uri: `skill://${name}/review` })
    expect(urisIn(directory)).toEqual([uri, `skill://${name}/review/lists`])
    expect(await textAt(client, uri)).toContain(`as ${name} does`)
    expect(await textAt(client, `skill://${name}/review/lists/CHECKS.md`)).toBe(`The checks of ${name}`)
  }
  await expect(client.request('skills/get', { uri: 'skill://review/SKILL.md' })).rejects.toMatchObject({ code: -32602 })
})

test('without a prefix the first upstream keeps the URI of its skill, and the other says why it is left out', async () => {
  const team = await twoReviewers({ first: '', second: '' })
  const client = await clientOf(await served(team))
  expect(await listed(client)).toMatchObject([{ frontmatter: { description: 'Reviews changes as first does' } }])
  expect(await textAt(client, 'skill://review/lists/CHECKS.md')).toBe('The checks of first')
  const [, second] = team.states()
  expect(second?.leftOut).toContainEqual({
    ...{ kind: 'skill', name: 'skill://review/SKILL.md' },
    reason: 'not on the endpoint for all: first has it too',
  })
})

test('a later list cannot put a file into the skill of another upstream', async () => {
  const settings = { extensions: { 'io.modelcontextprotocol/skills': {} }, resources: {}, tools: {} }
  const owner = await rawUpstream({}, { capabilities: settings })
  const skill = { uri: 'skill://review/SKILL.md', frontmatter: { name: 'review' }, resources: 'dynamic' }
  const reading =
    (text: string) =>
    ({ method, params }: { method: string; params: Members }) =>
      method === 'skills/list'
        ? { resultType: 'complete', skills: [skill], ttlMs: 0, cacheScope: 'public' }
        : { resultType: 'complete', contents: [{ uri: params['uri'], text }] }
  owner.respond = reading('owner')
  const thief = await rawUpstream({ resources: [{ uri: 'skill://review/run.sh', name: 'run' }] })
  thief.respond = reading('thief')
  const upstreams = [
    upstream({ name: 'thief', url: thief.url, scope: 'shared', prefix: '' }),
    upstream({ name: 'owner', url: owner.url, scope: 'shared', prefix: '' }),
  ]
  const { url, team } = await servedGateway(upstreams)
  const client = await clientOf(url)
  expect(await textAt(client, 'skill://review/run.sh')).toBe('owner')
  expect(team.states()[0]?.leftOut).toContainEqual({
    ...{ kind: 'resource', name: 'skill://review/run.sh' },
    reason: 'not on the endpoint for all: it is inside a skill of owner',
  })
  expect(owner.requests.filter(({ method }) => method === 'resources/read')).toHaveLength(1)
})
