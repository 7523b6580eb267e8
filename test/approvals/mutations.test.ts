/** Every change of an approved call, by a byte or by a value, is refused, and nothing runs. */

import fc from 'fast-check'
import type { Params, Tool } from 'sluice'
import { tool } from 'sluice'
import { approvalArguments } from 'sluice/approvals'
import { jsonSchema } from 'sluice/json-schema'
import { expect, test } from 'vitest'
import { digest } from '../../packages/sluice/src/core/digest.ts'
import type { ApprovalsFixture } from '../kit/servers/approvals.fixture.ts'
import { openApprovalsFixture, operator, requiredIn } from '../kit/servers/approvals.fixture.ts'

const anything = (name: string, ran: unknown[]): Tool =>
  tool({
    name,
    description: 'Takes anything',
    input: jsonSchema<Params>({ type: 'object' }),
    approval: 'always',
    stateless: true,
    approvalArguments,
    run(input) {
      ran.push(input)
      return 'ran'
    },
  })
const open = (): Promise<ApprovalsFixture> =>
  openApprovalsFixture({ url: 'https://console.example' }, { tools: (ran) => [anything('a', ran), anything('b', ran)] })
const capabilities = { elicitation: { url: {} } }

/** As framing accepts them: no numbers that collide, no half surrogates. */
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
const args = fc
  .dictionary(fc.string({ minLength: 1, unit: 'grapheme' }), json, { maxKeys: 4 })
  .map((made) => JSON.parse(JSON.stringify(made)) as Params)
  .filter((made) => !Object.keys(made).some((name) => name === '__proto__' || Object.hasOwn(approvalArguments, name)))

test('no byte of requestState can be changed, removed, inserted or moved', { timeout: 120_000 }, async () => {
  const { request, approvals, ran } = await open()
  const call = { name: 'a', arguments: { n: 1 } }
  const { requestState } = (await request('tools/call', call, { capabilities }))['result'] as { requestState: string }
  const [ticket] = (await approvals.list()).tickets
  await approvals.decide(ticket?.id ?? '', { approved: true }, operator)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const changed = new Set<string>()
  for (let at = 0; at < requestState.length; at++) {
    const [before, char, after] = [requestState.slice(0, at), requestState[at] ?? '', requestState.slice(at + 1)]
    const other = (step: number): string => alphabet[(alphabet.indexOf(char) + step) % 64] ?? ''
    for (const step of [1, 2, 16, 32]) changed.add(before + other(step) + after)
    for (const put of ['.', '=', ' ', '\0', 'é']) changed.add(before + put + after)
    changed.add(before + after)
    changed.add(before + char + char + after)
    changed.add(before)
    changed.add(after + before)
  }
  for (const end of ['A', '=', '==', '.', ' ', '\n']) changed.add(requestState + end)
  changed.delete(requestState)
  expect(changed.size).toBeGreaterThan(2_000)
  await Promise.all(
    [...changed].map(async (state) => {
      const answer = await request('tools/call', { ...call, requestState: state }, { capabilities })
      expect(answer, state).toMatchObject({ error: { code: -32602 } })
    }),
  )
  expect(ran).toEqual([])
  await request('tools/call', { ...call, requestState }, { capabilities })
  expect(ran).toEqual([{ n: 1 }])
})

test('arguments that are not canonically equal are not the approved ones', { timeout: 120_000 }, async () => {
  const { request, call, approvals, ran } = await open()
  const run = async (approved: Params, tried: Params): Promise<void> => {
    const { request_id } = requiredIn(await call('a', approved))
    const asked = (await request('tools/call', { name: 'a', arguments: approved }, { capabilities }))[
      'result'
    ] as Params
    await approvals.decide(request_id, { approved: true }, operator)
    const named = { ...tried, approval_request_id: request_id, approved: true }
    expect(await call('a', named)).toMatchObject({ error: { data: { reason: 'approvalInvalid' } } })
    const sealed = { name: 'a', arguments: tried, requestState: asked['requestState'] }
    expect(await request('tools/call', sealed)).toMatchObject({ error: { code: -32602 } })
    expect(ran).toEqual([])
    // Spent, so that the next case starts anew.
    await call('a', approved)
    expect(ran).toHaveLength(1)
    expect(digest(ran.pop())).toBe(digest(approved))
  }
  await fc.assert(
    fc.asyncProperty(args, args, json, fc.nat(), async (approved, other, value, which) => {
      const names = Object.keys(approved)
      const name = names[which % Math.max(1, names.length)] ?? 'x'
      const { [name]: _, ...less } = approved
      for (const tried of [
        other,
        less,
        { ...approved, [name]: value },
        { ...approved, more: value },
        { inner: approved },
      ])
        if (digest(tried) !== digest(approved)) await run(approved, tried)
    }),
    { numRuns: 300 },
  )
})

test('the same arguments in another notation are the approved ones', { timeout: 120_000 }, async () => {
  const { call, approvals, ran } = await open()
  const turned = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turned)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, inner]) => [name, turned(inner)] as const)
        .reverse(),
    )
  }
  await fc.assert(
    fc.asyncProperty(args, async (approved) => {
      const { request_id } = requiredIn(await call('a', approved))
      expect(requiredIn(await call('a', turned(approved))).request_id).toBe(request_id)
      await approvals.decide(request_id, { approved: true }, operator)
      await call('a', turned(approved))
      expect(digest(ran.pop())).toBe(digest(approved))
    }),
    { numRuns: 200 },
  )
})

test('another tool, caller or tenant is refused, whatever the arguments', { timeout: 120_000 }, async () => {
  const { request, call, approvals, ran, keyFor } = await open()
  const others = [
    { token: await keyFor('bob', ['acme']), tool: 'a' },
    { token: await keyFor('ann', ['globex']), tool: 'a' },
    { token: await keyFor('ann ', ['acme']), tool: 'a' },
    { token: await keyFor('ann', ['acme']), tool: 'b' },
  ]
  await fc.assert(
    fc.asyncProperty(args, async (approved) => {
      const { request_id } = requiredIn(await call('a', approved))
      const asked = (await request('tools/call', { name: 'a', arguments: approved }, { capabilities }))[
        'result'
      ] as Params
      await approvals.decide(request_id, { approved: true }, operator)
      for (const { token, tool: name } of others) {
        const named = { ...approved, approval_request_id: request_id, approved: true }
        expect(await call(name, named, { token })).toMatchObject({ error: { data: { reason: 'approvalInvalid' } } })
        const sealed = { name, arguments: approved, requestState: asked['requestState'] }
        expect(await request('tools/call', sealed, { token })).toMatchObject({ error: { code: -32602 } })
      }
      expect(ran).toEqual([])
      await call('a', approved)
      expect(ran.splice(0)).toHaveLength(1)
    }),
    { numRuns: 100 },
  )
})
