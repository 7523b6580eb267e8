/** A scope that implies others grants what they grant, for every check, and challenges ask for the widest only. */

import { apiKeys, authenticate, defineServer, memoryStore, prompt, resource, tenants, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'

const scopes = ['repo:read']
const definition = defineServer({
  name: 'x',
  version: '1',
  tools: [
    tool({ name: 'read', description: 'Reads', scopes, run: (_, { caller }) => [...caller.scopes].sort().join(' ') }),
    tool({ name: 'deploy', description: 'Deploys', scopes: ['repo:read', 'deploy'], listed: true, run: () => 'done' }),
    tool({ name: 'all', description: 'All', scopes: ['repo:read', 'repo', 'deploy'], listed: true, run: () => 'done' }),
    tool({ name: 'other', description: 'Not of the tenant', scopes, run: () => 'done' }),
  ],
  resources: [
    resource({ uri: 'repo:one', name: 'one', scopes, read: () => 'one' }),
    resource({
      uri: 'repo:{id}/file',
      name: 'file',
      scopes,
      complete: { id: () => ['a'] },
      list: () => ({ resources: [{ uri: 'repo:a/file', name: 'a' }] }),
      read: () => 'file',
    }),
  ],
  prompts: [prompt({ name: 'ask', description: 'Asks', scopes, run: () => 'ask' })],
})
const impliedScopes = { admin: ['repo'], repo: ['repo:read', 'repo:write'] }

async function clientWith(...held: string[]) {
  const keys = apiKeys(memoryStore())
  const { secret } = await keys.create({ subject: 'ann', scopes: held, tenants: ['acme'] })
  const server = createServer(definition, {
    use: [
      authenticate({ verifiers: [keys], impliedScopes }),
      tenants({ claim: 'tenants', tools: () => new Set(['read', 'deploy', 'all']) }),
    ],
  })
  const headers = { authorization: `Bearer ${secret}` }
  return {
    modern: await testClient(server, { headers }),
    legacy: await testClient(server, { headers, revision: '2025-11-25' }),
  }
}

test.each(['repo', 'admin'])('the holder of %s passes every check for repo:read', async (held) => {
  const { modern, legacy } = await clientWith(held)
  expect(await modern.request('tools/list')).toMatchObject({ tools: [{ name: 'read' }, {}, {}] })
  expect(await modern.call('read', {})).toMatchObject({ content: [{ text: expect.stringContaining('repo:read') }] })
  expect(await modern.request('resources/list')).toMatchObject({ resources: [{ name: 'one' }, { name: 'a' }] })
  expect(await modern.request('resources/read', { uri: 'repo:a/file' })).toMatchObject({ contents: [{ text: 'file' }] })
  expect(await modern.request('prompts/list')).toMatchObject({ prompts: [{ name: 'ask' }] })
  expect(await modern.request('prompts/get', { name: 'ask' })).toMatchObject({ messages: [{}] })
  const completing = { ref: { type: 'ref/resource', uri: 'repo:{id}/file' }, argument: { name: 'id', value: '' } }
  expect(await modern.request('completion/complete', completing)).toMatchObject({ completion: { values: ['a'] } })
  expect(await legacy.request('resources/subscribe', { uri: 'repo:one' })).toEqual({})
})

test('what the tenant does not have stays hidden, whatever the scope', async () => {
  const { modern } = await clientWith('admin')
  expect(await modern.send('tools/call', { name: 'other' })).toMatchObject({
    error: { data: { reason: 'unknownTool' } },
  })
})

test('the narrower scope does not grant what needs the wider one', async () => {
  const { modern } = await clientWith('repo:read', 'deploy')
  expect(await modern.send('tools/call', { name: 'all' })).toMatchObject({
    error: { data: { reason: 'insufficientScope' } },
  })
})

test.each([
  ['no scope that another one implies', ['repo:write'], 'all', ['repo', 'deploy']],
  ['the wider scope that the caller already has', ['repo'], 'deploy', ['repo', 'deploy']],
  ['what is needed, by a caller without any of it', ['else'], 'deploy', ['repo:read', 'deploy']],
])('a challenge asks for %s', async (_, held, name, wanted) => {
  const { modern } = await clientWith(...held)
  expect(await modern.send('tools/call', { name })).toMatchObject({
    error: { data: { reason: 'insufficientScope', scopes: wanted } },
  })
})

test('scopes that imply each other are refused at the start', () => {
  const options = { verifiers: [apiKeys(memoryStore())], impliedScopes: { a: ['b'], b: ['c'], c: ['a'] } }
  expect(() => createServer(definition, { use: [authenticate(options)] })).toThrow(
    '"impliedScopes": "a" and "b" imply each other; remove one of the two',
  )
})
