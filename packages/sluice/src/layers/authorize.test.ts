import { expect, test } from 'vitest'
import type { Call } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import { aCall, asyncPipeline } from '../testing/call.ts'
import { authorizeLayer } from './authorize.ts'

const layer = authorizeLayer(() => new RpcError('unknownTool', 'Unknown tool'))
const serve = asyncPipeline([layer], async () => ({ content: [] }))
const aimedAt = (kind: 'tool' | 'unknown', policy: Partial<Call['target']['policy']>, scopes: string[] = []): Call => {
  const call = aCall({ caller: { ...anonymous, scopes: new Set(scopes) } })
  return { ...call, target: { ...call.target, kind, policy: { ...call.target.policy, ...policy } } }
}

test('a caller with all scopes gets through', async () => {
  await expect(serve(aimedAt('tool', { scopes: ['a', 'b'] }, ['a', 'b', 'c']))).resolves.toEqual({ content: [] })
  await expect(serve(aimedAt('tool', { scopes: [] }))).resolves.toEqual({ content: [] })
})

test('unknown and forbidden tools get the same refusal', async () => {
  const refusals = await Promise.all(
    [aimedAt('unknown', {}), aimedAt('tool', { scopes: ['a', 'b'] }, ['a'])].map((call) =>
      serve(call).catch((thrown: RpcError) => [thrown.reason, thrown.message, thrown.data]),
    ),
  )
  expect(refusals[0]).toEqual(refusals[1])
})

test('a listed tool names the scopes it needs', async () => {
  await expect(serve(aimedAt('tool', { scopes: ['a', 'b'], listed: true }, ['a']))).rejects.toMatchObject({
    reason: 'insufficientScope',
    data: { scopes: ['a', 'b'] },
  })
})

test('a tool the tenant does not have is refused like a missing one, whatever its scopes and listing', async () => {
  const call = aimedAt('tool', { scopes: [], listed: true })
  const has = (tools: Call['tenant']['tools']): Call => ({ ...call, tenant: { ...call.tenant, tools } })
  await expect(serve(has(new Set(['another'])))).rejects.toMatchObject({ reason: 'unknownTool' })
  await expect(serve(has(new Set([call.target.name])))).resolves.toEqual({ content: [] })
  await expect(serve(has('all'))).resolves.toEqual({ content: [] })
})

test('a tool of the tenant still needs its scopes', async () => {
  const call = aimedAt('tool', { scopes: ['a'] })
  const tenant = { ...call.tenant, tools: new Set([call.target.name]) }
  await expect(serve({ ...call, tenant })).rejects.toMatchObject({ reason: 'unknownTool' })
})

test('the set of tools does not affect prompts, resources and methods', async () => {
  const call = aimedAt('tool', {})
  const tenant = { ...call.tenant, tools: new Set<string>() }
  for (const kind of ['prompt', 'resource', 'method'] as const)
    await expect(serve({ ...call, tenant, target: { ...call.target, kind } })).resolves.toEqual({ content: [] })
})
