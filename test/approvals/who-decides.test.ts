/**
 * Tests packages/sluice/src/approvals/decide.ts: one function decides which person may approve, deny, grant, resolve
 * and revoke.
 */

import type { Params, Tool } from 'sluice'
import { memoryStore, tool } from 'sluice'
import type { Approvals, ApprovalsOptions, Decider } from 'sluice/approvals'
import { approvalArguments } from 'sluice/approvals'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import type { ApprovalsFixture } from '../kit/servers/approvals.fixture.ts'
import { openApprovalsFixture, operator, owner, requiredIn } from '../kit/servers/approvals.fixture.ts'

const minute = 60_000
const grants = { maxMs: 60 * minute }
const capabilities = { elicitation: { form: {} } }
/** The person the agent works for, who is also an operator. */
const annAsOperator: Decider = { ...operator, subject: 'ann' }
const omar: Decider = { ...operator, subject: 'omar' }
const forbidden = { reason: 'forbidden' }
const textOf = (answer: Params): string =>
  (answer['result'] as { content?: readonly { text: string }[] } | undefined)?.content?.[0]?.text ?? ''

/** A ticket whose process started to run it and ended. */
async function inDoubt(
  options: ApprovalsOptions,
  by: readonly Decider[],
): Promise<ApprovalsFixture & { readonly id: string }> {
  const clock = fakeClock(1_700_000_000_000)
  const store = memoryStore(clock)
  const began = Promise.withResolvers<void>()
  const pay = (run: () => string | Promise<string>): Tool =>
    tool({ name: 'pay', description: 'Pays', approval: 'always', stateless: true, approvalArguments, run })
  const dying = pay(() => {
    began.resolve()
    return new Promise(() => {})
  })
  const dead = await openApprovalsFixture(options, { store, clock, tools: () => [dying] })
  const { request_id: id } = requiredIn(await dead.call('pay'))
  for (const each of by) await dead.approvals.decide(id, { approved: true }, each)
  dead.call('pay').catch(expect.unreachable)
  await began.promise
  // It ends without a word: its lease runs out.
  await dead.server.close()
  await clock.advance(minute)
  const tools = (ran: unknown[]): Tool[] => [pay(() => String(ran.push('paid')))]
  return { ...(await openApprovalsFixture(options, { store, clock, tools })), id }
}

const give = (desk: Approvals, ticket: string, by: Decider): Promise<unknown> =>
  desk.grants.create({ ticket, arguments: 'exactly', durationMs: minute }, by)

describe('a person who may not approve may not grant, resolve or take back', () => {
  test('with approver "other", not the requester', async () => {
    const { call, approvals } = await openApprovalsFixture({ approver: 'other', grants })
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await expect(approvals.decide(request_id, { approved: true }, annAsOperator)).rejects.toMatchObject(forbidden)
    await expect(give(approvals, request_id, annAsOperator)).rejects.toMatchObject(forbidden)
    await give(approvals, request_id, operator)
    const doubt = await inDoubt({ approver: 'other' }, [operator])
    await expect(doubt.approvals.resolve(doubt.id, 'did not run', annAsOperator)).rejects.toMatchObject(forbidden)
    expect(await doubt.approvals.get(doubt.id)).toMatchObject({ status: 'in doubt' })
    await doubt.approvals.resolve(doubt.id, 'did not run', omar)
  })

  test('with people named in the rule, no other person', async () => {
    const rules = [{ approval: 'always' as const, of: ['omar'] }]
    const { call, approvals } = await openApprovalsFixture({ rules, grants })
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await expect(give(approvals, request_id, operator)).rejects.toMatchObject(forbidden)
    await give(approvals, request_id, omar)
    const doubt = await inDoubt({ rules }, [omar])
    await expect(doubt.approvals.resolve(doubt.id, 'did not run', operator)).rejects.toMatchObject(forbidden)
    expect(textOf(await doubt.call('pay'))).toBe('')
    expect(doubt.ran).toEqual([])
  })

  test('an approval is taken back by the person who gave it, while that person may decide', async () => {
    const { call, approvals } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await approvals.decide(request_id, { approved: true }, operator)
    for (const [now, problem] of [
      [{ ...operator, operator: false }, forbidden],
      [{ ...operator, tenants: ['globex'] }, { reason: 'approvalInvalid' }],
      [omar, { reason: 'conflict' }],
    ] as const)
      await expect(approvals.takeBack(request_id, now)).rejects.toMatchObject(problem)
    expect(await approvals.takeBack(request_id, operator)).toMatchObject({ status: 'denied' })
  })

  test('a webhook that speaks for a person has the same limits', async () => {
    const { call, approvals } = await openApprovalsFixture({ approver: 'other', grants })
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    const byChat: Decider = { ...annAsOperator, via: 'webhook' }
    await expect(approvals.decide(request_id, { approved: true }, byChat)).rejects.toMatchObject(forbidden)
    await expect(give(approvals, request_id, byChat)).rejects.toMatchObject(forbidden)
  })
})

describe('a grant', () => {
  async function shipTo(shop: ApprovalsFixture, city: string): Promise<Params> {
    const params = { name: 'ship', arguments: { parcel: 'p' } }
    const asked = (await shop.request('tools/call', params, { capabilities }))['result'] as Params
    const inputResponses = { where: { action: 'accept', content: { city } } }
    const { requestState } = asked
    return shop.request('tools/call', { ...params, requestState, inputResponses }, { capabilities })
  }

  test("for exactly these arguments does not cover another answer to the tool's question", async () => {
    const shop = await openApprovalsFixture({ grants })
    const { request_id } = requiredIn(await shipTo(shop, 'Paris'))
    await give(shop.approvals, request_id, operator)
    expect(textOf(await shipTo(shop, 'Paris'))).toBe('Sent to Paris')
    requiredIn(await shipTo(shop, 'Moscow'))
    expect(shop.ran).toEqual([{ parcel: 'p', city: 'Paris' }])
  })

  test("is not given over another person's denial", async () => {
    const { call, approvals } = await openApprovalsFixture({ grants })
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await approvals.decide(request_id, { approved: false }, owner)
    await expect(give(approvals, request_id, operator)).rejects.toMatchObject({ reason: 'conflict' })
  })

  test('that was given before does not outweigh a denial of this call', async () => {
    const { call, approvals, ran } = await openApprovalsFixture({ grants })
    const [first, second] = [requiredIn(await call('pay', { amount: 5 })), requiredIn(await call('pay', { amount: 6 }))]
    await approvals.decide(second.request_id, { approved: false }, owner)
    await approvals.grants.create({ ticket: first.request_id, arguments: 'any', durationMs: minute }, operator)
    expect(textOf(await call('pay', { amount: 6 }))).toContain('A person denied this call')
    await call('pay', { amount: 5 })
    expect(ran).toMatchObject([{ amount: 5 }])
  })

  test('is revoked by operators of the tenant and by the person it is about, and not through the protocol', async () => {
    const { call, approvals } = await openApprovalsFixture({ approver: 'other', grants })
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    const made = async (): Promise<string> =>
      (await approvals.grants.create({ ticket: request_id, arguments: 'exactly', durationMs: minute }, operator)).id
    const id = await made()
    await expect(approvals.grants.revoke(id, { ...owner, subject: 'bob' })).rejects.toMatchObject(forbidden)
    await expect(approvals.grants.revoke(id, { ...owner, via: 'protocol' })).rejects.toMatchObject(forbidden)
    expect(await approvals.grants.revoke(id, { ...operator, tenants: ['globex'] })).toBe(false)
    expect(await approvals.grants.revoke(id, owner)).toBe(true)
    expect(await approvals.grants.revoke(await made(), omar)).toBe(true)
  })
})

describe('approved: false beside approval_request_id', () => {
  test.each([[false], ['false'], ['False']])(
    '%j denies and runs nothing, although a person had approved',
    async (no) => {
      const { call, approvals, ran } = await openApprovalsFixture()
      const { request_id } = requiredIn(await call('refund', { amount: 5 }))
      await approvals.decide(request_id, { approved: true }, owner)
      const answer = await call('refund', { amount: 5, approval_request_id: request_id, approved: no })
      expect(answer).toMatchObject({ result: { isError: true } })
      expect(await approvals.get(request_id)).toMatchObject({ status: 'denied' })
      await call('refund', { amount: 5 })
      await call('refund', { amount: 5, approval_request_id: request_id, approved: true })
      expect(ran).toEqual([])
    },
  )

  test('denies a pending ticket, and a caller cannot deny a ticket that it may not see', async () => {
    const { call, approvals, keyFor } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('refund', { amount: 5 }))
    const no = { amount: 5, approval_request_id: request_id, approved: false }
    const stranger = await call('refund', no, { token: await keyFor('bob', ['acme']) })
    expect(stranger).toMatchObject({ error: { data: { reason: 'approvalInvalid' } } })
    expect(await call('refund', { ...no, amount: 6 })).toMatchObject({ error: { data: { reason: 'approvalInvalid' } } })
    expect(await approvals.get(request_id)).toMatchObject({ status: 'pending' })
    await call('refund', no)
    expect(await approvals.get(request_id)).toMatchObject({
      status: 'denied',
      decisions: [{ by: 'ann', via: 'protocol' }],
    })
  })

  test.each([[0], ['no'], [{}], [[]]])('%j, which is neither yes nor no, is refused', async (approved) => {
    const { call, approvals, ran } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('refund', { amount: 5 }))
    await approvals.decide(request_id, { approved: true }, owner)
    const answer = await call('refund', { amount: 5, approval_request_id: request_id, approved })
    expect(answer).toMatchObject({ error: { data: { reason: 'invalidParams' } } })
    expect(ran).toEqual([])
  })

  test('a spent ticket cannot be denied afterwards', async () => {
    const { call, approvals } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('refund', { amount: 5 }))
    await approvals.decide(request_id, { approved: true }, owner)
    await call('refund', { amount: 5 })
    const answer = await call('refund', { amount: 5, approval_request_id: request_id, approved: false })
    expect(answer).toMatchObject({ error: { data: { reason: 'conflict' } } })
    expect(await approvals.get(request_id)).toMatchObject({ status: 'done' })
  })
})
