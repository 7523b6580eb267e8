/** A ticket whose process ended before the outcome was known, and the person who resolves it. */

import type { Tool } from 'sluice'
import { memoryStore, RpcError, tool } from 'sluice'
import { approvalArguments } from 'sluice/approvals'
import { fakeClock, settle } from 'sluice/testing'
import { expect, test } from 'vitest'
import { createStop } from '../../packages/sluice/src/core/stop.ts'
import type { ApprovalsFixture } from '../kit/servers/approvals.fixture.ts'
import { openApprovalsFixture, operator, owner, requiredIn } from '../kit/servers/approvals.fixture.ts'

const pay = (run: () => Promise<string>): Tool =>
  tool({ name: 'pay', description: 'Pays', approval: 'always', stateless: true, approvalArguments, run })

/** One process begins and never ends; a minute later there is another one. */
async function inDoubt(): Promise<ApprovalsFixture & { id: string }> {
  const clock = fakeClock(1_700_000_000_000)
  const store = memoryStore(clock)
  const began = Promise.withResolvers<void>()
  const dying = pay(() => {
    began.resolve()
    return new Promise(() => {})
  })
  const crashed = await openApprovalsFixture({}, { store, clock, tools: () => [dying] })
  const { request_id: id } = requiredIn(await crashed.call('pay'))
  await crashed.approvals.decide(id, { approved: true }, owner)
  crashed.call('pay').catch(expect.unreachable)
  await began.promise
  expect(await crashed.approvals.get(id)).toMatchObject({ status: 'running' })
  // It ends silently, so its lease runs out.
  await crashed.server.close()
  await clock.advance(60_000)
  const tools = (ran: unknown[]): Tool[] => [
    pay(async () => {
      ran.push('paid')
      return 'paid'
    }),
  ]
  return { ...(await openApprovalsFixture({}, { store, clock, tools })), id }
}
const conflict = (state: string): object => ({ error: { data: { reason: 'conflict', state } } })

test('it is shown, and does not run again, with or without its id', async () => {
  const { call, approvals, ran, id } = await inDoubt()
  expect((await approvals.list({ status: 'in doubt' })).tickets.map((ticket) => ticket.id)).toEqual([id])
  expect(await call('pay', { approval_request_id: id })).toMatchObject(conflict('in doubt'))
  expect(await call('pay')).toMatchObject(conflict('in doubt'))
  expect(ran).toEqual([])
})

test('resolved as not run, it runs before it expires', async () => {
  const { call, approvals, ran, id } = await inDoubt()
  expect(await approvals.resolve(id, 'did not run', operator)).toMatchObject({ status: 'approved' })
  expect(await call('pay')).toMatchObject({ result: { content: [{ text: 'paid' }] } })
  expect(ran).toHaveLength(1)
})

test('resolved as run, it is done: its id returns that, and another call needs another ticket', async () => {
  const { call, approvals, ran, id } = await inDoubt()
  expect(await approvals.resolve(id, 'ran', operator)).toMatchObject({ status: 'done' })
  expect(await call('pay', { approval_request_id: id })).toMatchObject(conflict('done'))
  expect(requiredIn(await call('pay')).request_id).not.toBe(id)
  expect(ran).toEqual([])
})

test('a call that outlives its deadline is running: no operator can let it run a second time', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const store = memoryStore(clock)
  const work = Promise.withResolvers<string>()
  const ran: string[] = []
  const slow = pay(() => {
    ran.push('paid')
    return work.promise
  })
  const first = await openApprovalsFixture({ runMs: 3_600_000 }, { store, clock, tools: () => [slow] })
  const other = await openApprovalsFixture({ runMs: 3_600_000 }, { store, clock, tools: () => [slow] })
  const { request_id: id } = requiredIn(await first.call('pay'))
  await first.approvals.decide(id, { approved: true }, owner)
  const late = first.call('pay')
  await clock.advance(60_000)
  expect(await late).toMatchObject({ result: { isError: true } })
  await expect(other.approvals.resolve(id, 'did not run', operator)).rejects.toMatchObject({ reason: 'conflict' })
  expect(await other.call('pay')).toMatchObject(conflict('in flight'))
  work.resolve('paid')
  await settle()
  expect(await other.call('pay', { approval_request_id: id })).toMatchObject({
    result: { content: [{ text: 'paid' }] },
  })
  expect(ran).toHaveLength(1)
})

test('only an operator of the tenant finds out, outside the protocol, and only what is in doubt', async () => {
  const { call, approvals, id } = await inDoubt()
  await expect(approvals.resolve(id, 'did not run', owner)).rejects.toMatchObject({ reason: 'forbidden' })
  const agent = { ...operator, via: 'protocol' as const }
  await expect(approvals.resolve(id, 'did not run', agent)).rejects.toMatchObject({ reason: 'forbidden' })
  const elsewhere = { ...operator, tenants: ['globex'] }
  await expect(approvals.resolve(id, 'did not run', elsewhere)).rejects.toMatchObject({ reason: 'approvalInvalid' })
  await approvals.resolve(id, 'ran', operator)
  await expect(approvals.resolve(id, 'did not run', operator)).rejects.toMatchObject({ reason: 'conflict' })
  const { request_id } = requiredIn(await call('pay'))
  await expect(approvals.resolve(request_id, 'ran', operator)).rejects.toMatchObject({ reason: 'conflict' })
})

test('a client that disconnects while its call waits for a decision leaves only the ticket', async () => {
  const { server, approvals, clock, keyFor, ran } = await openApprovalsFixture({ waitMs: 10_000 })
  const proposed = new Promise((resolve) => approvals.watch(resolve))
  const stop = createStop()
  const params = { name: 'pay', arguments: { amount: 5 }, token: await keyFor('ann', ['acme']) }
  const via = { transport: 'memory' as const, peer: '', header: () => undefined }
  const answer = server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { via, stop })
  await proposed
  await clock.advance(1_000)
  stop.stop(new RpcError('cancelled', 'The client left'))
  expect(await answer).toBeNull()
  // The timer that moves the time mark once the ticket has ended.
  expect(clock.pending).toBe(1)
  expect((await approvals.list()).tickets).toMatchObject([{ status: 'pending' }])
  expect(ran).toEqual([])
})
