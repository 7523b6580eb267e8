import { defineServer, fail, tool } from 'sluice'
import { run, testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import * as z from 'zod'

let deployed: string[] = []
const deploy = tool({
  name: 'deploy',
  description: 'Deploy a service',
  input: z.object({ service: z.string() }),
  approval: 'always',
  effect: ({ service }) => ({ Service: service }),
  run({ service }) {
    deployed.push(service)
    return { service, version: 2 }
  },
})
const add = tool({
  name: 'add',
  description: 'Add two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  run({ a, b }) {
    if (a < 0) throw fail('a must not be negative')
    return { content: ['The sum is', String(a + b)].map((text) => ({ type: 'text' as const, text })) }
  },
})
const definition = defineServer({ name: 'demo', version: '1.0.0', tools: [deploy, add] })

test.each(['2025-11-25', '2026-07-28'] as const)('a result of %s is typed and has its text', async (revision) => {
  const client = await testClient(definition, { revision })
  const sum = await client.call('add', { a: 1, b: 2 })
  expect(sum.text()).toBe('The sum is\n3')
  expect(sum.content[1]?.text).toBe('3')
  expect(sum).toEqual(await client.call('add', { a: 1, b: 2 }))
  const failed = await client.call('add', { a: -1, b: 2 })
  expect([failed.isError, failed.text()]).toEqual([true, 'a must not be negative'])
})

test.each(['2025-11-25', '2026-07-28'] as const)('a test decides about gated calls of %s', async (revision) => {
  deployed = []
  const asked: unknown[] = []
  const client = await testClient(definition, {
    revision,
    approve: (request) => asked.push(request) > 0 && request.arguments['service'] !== 'bank',
  })
  expect((await client.call('deploy', { service: 'web' })).structuredContent).toEqual({ service: 'web', version: 2 })
  const denied = await client.call('deploy', { service: 'bank' })
  expect([denied.isError, denied.text()]).toEqual([true, expect.stringContaining('User denied approval')])
  expect(deployed).toEqual(['web'])
  expect(asked).toEqual([
    {
      tool: 'deploy',
      arguments: { service: 'web' },
      message: 'User approval required for tool: deploy',
      effect: { Service: 'web' },
    },
    expect.objectContaining({ arguments: { service: 'bank' }, effect: { Service: 'bank' } }),
  ])
  await client.call('add', { a: 1, b: 2 })
  expect(asked).toHaveLength(2)
})

test('a tool runs directly, with its checks, and a gated one is approved by default', async () => {
  deployed = []
  expect((await run(add, { a: 2, b: 3 })).text()).toBe('The sum is\n5')
  expect((await run(add, { a: 'two', b: 3 })).isError).toBe(true)
  expect((await run(deploy, { service: 'web' })).structuredContent).toEqual({ service: 'web', version: 2 })
  expect((await run(deploy, { service: 'bank' }, { approve: () => false })).isError).toBe(true)
  expect(deployed).toEqual(['web'])
})
