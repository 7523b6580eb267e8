/**
 * The document's approval workflow as written, with the real binary over stdio and the official client; and without
 * SBCL.
 */

import { spawnSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { overStdio, programOf } from '../../../test/kit/clients/binary.client.ts'
import { folder, openLisp, requestIn, textOf, withSbcl } from './server.fixture.ts'

beforeAll(withSbcl, 300_000)
const anything = z.looseObject({})

test('approval_required, approval/respond, the call again with its id: it runs once', {
  timeout: 120_000,
}, async () => {
  const client = await overStdio('lisp', folder)
  // The folder and its tickets outlive this run, so each run asks for another call.
  const args = { code: `(+ 1 2 (* 0 ${Date.now()}))` }
  const asked = (await client.callTool({ name: 'repl_eval', arguments: args })) as never
  const id = requestIn(asked) ?? ''
  expect(JSON.parse(textOf(asked))).toMatchObject({
    approval_required: true,
    message: 'User approval required for tool: repl_eval',
  })
  const decision = await client.request(
    { method: 'approval/respond', params: { request_id: id, approved: 'true' } } as never,
    anything,
  )
  expect(decision).toMatchObject({ recorded: true, approved: true })
  const again = { ...args, approval_request_id: id, approved: true }
  expect(
    textOf((await client.callTool({ name: 'repl_eval', arguments: again }, undefined, { timeout: 100_000 })) as never),
  ).toBe('=> 3')
  expect(await client.ping()).toEqual({})
})

test('an approval of one form does not run another', { timeout: 120_000 }, async () => {
  const { client } = await openLisp()
  const id = requestIn((await client.call('repl_eval', { code: '1' })) as never) ?? ''
  await client.request('approval/respond', { request_id: id, approved: true })
  await expect(client.call('repl_eval', { code: '2', approval_request_id: id, approved: true })).rejects.toMatchObject({
    error: { code: -32004 },
  })
})

test('a denial is reported, and approved: true alone has no effect', async () => {
  const { client } = await openLisp()
  const id = requestIn((await client.call('repl_eval', { code: '1' })) as never) ?? ''
  expect(
    await client.request('approval/respond', { request_id: id, approved: false, message: 'not now' }),
  ).toMatchObject({ recorded: true, approved: false })
  const again = await client
    .call('repl_eval', { code: '1', approval_request_id: id, approved: true })
    .catch((thrown: unknown) => thrown)
  expect(JSON.stringify(again)).not.toContain('=> 1')
  expect(requestIn((await client.call('repl_compile', { code: '1', approved: true })) as never)).toBeTypeOf('string')
})

test('guides are resources, workflows are prompts; a path with .. is not a resource', async () => {
  const { client } = await openLisp()
  const { resources } = (await client.request('resources/list')) as unknown as { resources: readonly { uri: string }[] }
  expect(resources.length).toBeGreaterThan(3)
  for (const { uri } of resources)
    expect(await client.request('resources/read', { uri })).toMatchObject({ contents: [{ mimeType: 'text/markdown' }] })
  for (const uri of ['file:///docs/../package.json', 'file:///etc/passwd', 'file:///docs/%2e%2e/package.json'])
    await expect(client.request('resources/read', { uri })).rejects.toMatchObject({ error: { code: -32002 } })
  const { prompts } = (await client.request('prompts/list')) as unknown as { prompts: readonly { name: string }[] }
  for (const { name } of prompts) expect(await client.request('prompts/get', { name })).toHaveProperty('messages')
})

test('refused arguments are named, with what to do', async () => {
  const { client } = await openLisp()
  expect(textOf((await client.call('repl_completions', { prefix: '' })) as never)).toContain('prefix: Too small')
})

test('without SBCL the server starts, says what to install, and answers calls with that', async () => {
  const client = await overStdio('lisp', folder, { PATH: '/nonexistent', SWANK_LOADER: '/nonexistent' })
  const answer = (await client.callTool({ name: 'repl_describe', arguments: { symbol: 'car' } })) as never
  expect(textOf(answer)).toContain('apt-get install sbcl cl-swank')
})

test('the binary alone serves no HTTP, where any caller could approve, and says which command does', () => {
  const { status, stderr } = spawnSync(process.execPath, [programOf('lisp'), '--http'], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'sluice-lisp: callers over HTTP must be known: use npx @sluice/cli serve lisp --http\n',
  })
})
