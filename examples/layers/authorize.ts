/** Tools by scope: one is shown to everybody and asks for its scope, one is there only for whoever has it. */

import assert from 'node:assert/strict'
import { apiKeys, authenticate, defineServer, memoryStore, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'

const read = tool({ name: 'read', description: 'Open to all callers', run: () => 'read' })
const deploy = tool({
  name: 'deploy',
  description: 'Shown to all, for whoever may',
  scopes: ['deploy:write'],
  listed: true,
  run: () => 'deployed',
})
const wipe = tool({ name: 'wipe', description: 'Not even shown', scopes: ['admin'], run: () => 'wiped' })

const keys = apiKeys(memoryStore())
const server = createServer(defineServer({ name: 'ops', version: '1.0.0', tools: [read, deploy, wipe] }), {
  use: [authenticate({ verifiers: [keys] })],
})
const { secret } = await keys.create({ subject: 'ann' })
const ann = await testClient(server, { headers: { authorization: `Bearer ${secret}` } })

const { tools } = await ann.request('tools/list')
assert.partialDeepStrictEqual(tools, [{ name: 'read' }, { name: 'deploy' }])
assert.partialDeepStrictEqual(await ann.send('tools/call', { name: 'deploy' }), {
  error: { data: { reason: 'insufficientScope', scopes: ['deploy:write'] } },
})
// What is forbidden and what does not exist are refused in the same words.
assert.partialDeepStrictEqual(await ann.send('tools/call', { name: 'wipe' }), {
  error: { message: 'Unknown tool: wipe', data: { available_tools: ['read', 'deploy'] } },
})
