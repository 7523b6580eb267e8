/** Tests packages/sluice/src/approvals/effect.ts: an approval is spent only on what the approver saw. */

import type { Layer, LogLine, Params, Tool } from 'sluice'
import { memoryStore, tool } from 'sluice'
import { readAllAudit } from 'sluice/audit'
import type { SlotPlugin } from 'sluice/extend'
import { log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { EndedCall } from '../../packages/sluice/src/core/observer.ts'
import { noAudit } from '../../packages/sluice/src/core/plugin.ts'
import { openApprovalsFixture, operator, owner, requiredIn, ticketOf } from '../kit/servers/approvals.fixture.ts'

const minute = 60_000
const textOf = (answer: Params): string =>
  (answer['result'] as { content: readonly { text: string }[] }).content[0]?.text ?? ''

/** A server where the same arguments mean something else after `choose`. */
function rooms(): { readonly state: { room: string; books: number }; readonly tools: (ran: unknown[]) => Tool[] } {
  const state = { room: 'scratch', books: 3 }
  return {
    state,
    tools: (ran) => [
      tool({
        name: 'empty',
        description: 'Empties the current room',
        input: z.object({ why: z.string().optional() }),
        approval: 'always',
        effect: () => ({ Room: state.room, Books: state.books }),
        run() {
          ran.push(state.room)
          return `Emptied ${state.room}`
        },
      }),
    ],
  }
}

test('a gated tool needs an effect or stateless: true, otherwise it cannot be defined', () => {
  const gated = { name: 'empty', description: 'Empties', run: () => 'ok' }
  expect(() => tool({ ...gated, approval: 'always' })).toThrow(/tool "empty".*"effect".*"stateless: true"/)
  expect(() => tool({ ...gated, approval: () => false })).toThrow(/tool "empty"/)
  tool({ ...gated, approval: 'always', stateless: true })
  tool({ ...gated, approval: 'never' })
})

test('an approval for one room does not empty another, and the caller learns what changed', async () => {
  const { state, tools } = rooms()
  const { call, approvals, ran } = await openApprovalsFixture({}, { tools })
  const { request_id } = requiredIn(await call('empty'))
  await approvals.decide(request_id, { approved: true }, owner)
  state.room = 'main'
  const answer = await call('empty')
  expect(textOf(answer)).toContain('Room: "scratch" → "main"')
  expect(textOf(answer)).not.toContain('Books')
  expect(answer).toMatchObject({
    result: {
      isError: true,
      _meta: { 'dev.sluice/error': { changed: { Room: { from: 'scratch', to: 'main' } } } },
    },
  })
  expect(await approvals.get(request_id)).toMatchObject({ status: 'void' })
  expect(ran).toEqual([])
})

test('a void approval stays void even if the state returns', async () => {
  const { state, tools } = rooms()
  const { call, approvals, ran } = await openApprovalsFixture({}, { tools })
  const { request_id } = requiredIn(await call('empty'))
  await approvals.decide(request_id, { approved: true }, owner)
  state.room = 'main'
  await call('empty')
  state.room = 'scratch'
  expect(requiredIn(await call('empty')).request_id).not.toBe(request_id)
  expect(ran).toEqual([])
})

test('a change during the decision voids the ticket, and it cannot be approved any more', async () => {
  const { state, tools } = rooms()
  const { call, approvals } = await openApprovalsFixture({}, { tools })
  const { request_id } = requiredIn(await call('empty'))
  state.books = 4
  expect(textOf(await call('empty'))).toContain('Books: 3 → 4')
  await expect(approvals.decide(request_id, { approved: true }, owner)).rejects.toMatchObject({ reason: 'conflict' })
  expect(await approvals.pending()).toBe(0)
  const next = requiredIn(await call('empty')).request_id
  await approvals.decide(next, { approved: true }, owner)
  expect(textOf(await call('empty'))).toBe('Emptied scratch')
})

test('a change between spending the ticket and the run stops the run', async () => {
  const { state, tools } = rooms()
  const interfere: Layer = (next) => (call) => {
    state.room = 'main'
    return next(call)
  }
  const audit: SlotPlugin<'audit'> = { slot: 'audit', create: () => ({ audit: noAudit, layer: interfere }) }
  const { call, approvals, ran } = await openApprovalsFixture({}, { tools, use: [audit] })
  const { request_id } = requiredIn(await call('empty'))
  await approvals.decide(request_id, { approved: true }, owner)
  expect(textOf(await call('empty'))).toContain('Room: "scratch" → "main"')
  expect(ran).toEqual([])
  expect(await approvals.get(request_id)).toMatchObject({ status: 'void' })
})

test('the effect is on the ticket, in the answer, and part of the digest', async () => {
  const { state, tools } = rooms()
  const { call, approvals } = await openApprovalsFixture({}, { tools })
  const first = requiredIn(await call('empty'))
  expect(first).toMatchObject({ effect: { Room: 'scratch', Books: 3 } })
  const before = await ticketOf(approvals, first.request_id)
  expect(before.effect).toEqual({ Room: 'scratch', Books: 3 })
  state.room = 'main'
  await call('empty')
  const after = await ticketOf(approvals, requiredIn(await call('empty')).request_id)
  expect(after.digest).not.toBe(before.digest)
})

test('a client that opens pages is shown what the call acts on, and a line break cannot add a line', async () => {
  const { state, tools } = rooms()
  state.room = 'scratch\nBooks: 0'
  const { call } = await openApprovalsFixture({ url: 'https://console.example' }, { tools })
  const answer = await call('empty', {}, { capabilities: { elicitation: { url: {} } } })
  const { inputRequests } = answer['result'] as { inputRequests: { [key: string]: { params: { message: string } } } }
  expect(inputRequests['dev.sluice/approval']?.params.message).toBe(
    'User approval required for tool: empty\nRoom: "scratch\\nBooks: 0"\nBooks: 3',
  )
})

test('a denial holds for the denied effect; another effect needs another decision', async () => {
  const { state, tools } = rooms()
  const { call, approvals } = await openApprovalsFixture({}, { tools })
  const { request_id } = requiredIn(await call('empty'))
  await approvals.decide(request_id, { approved: false }, owner)
  expect(textOf(await call('empty'))).toContain('A person denied')
  state.room = 'main'
  expect(requiredIn(await call('empty')).request_id).not.toBe(request_id)
})

test('a grant covers the effect it was given for', async () => {
  const { state, tools } = rooms()
  const { call, approvals, ran } = await openApprovalsFixture({ grants: { maxMs: 60 * minute } }, { tools })
  const { request_id } = requiredIn(await call('empty'))
  await approvals.grants.create({ ticket: request_id, arguments: 'any', durationMs: minute }, operator)
  await call('empty')
  state.room = 'main'
  await call('empty')
  expect(ran).toEqual(['scratch'])
})

test.each<readonly [string, () => unknown]>([
  ['no object', () => 'all'],
  ['a value that cannot be shown', () => ({ Room: { deep: 1 } })],
  ['no number', () => ({ Books: Number.NaN })],
])('an effect that is %s lets nothing run', async (_, effect) => {
  const tools = (ran: unknown[]): Tool[] => [
    tool({
      ...{ name: 'empty', description: 'Empties', approval: 'always' as const },
      // As a JavaScript program could return it.
      effect: effect as () => Record<string, string>,
      run: () => String(ran.push('empty')),
    }),
  ]
  const { call, approvals, ran } = await openApprovalsFixture({}, { tools })
  expect(await call('empty')).toMatchObject({ error: { data: { reason: 'storeUnavailable' } } })
  expect((await approvals.list()).tickets).toEqual([])
  expect(ran).toEqual([])
})

test('a call that only created a ticket has the outcome approval_required, never complete', async () => {
  const seen: (readonly [string, boolean])[] = []
  const ended = ({ outcome, failed }: EndedCall): void => {
    seen.push([outcome, failed])
  }
  const { call } = await openApprovalsFixture(
    { url: 'https://console.example' },
    { use: [{ slot: 'metrics', create: () => ({ observer: { ended } }) }] },
  )
  await call('pay', { amount: 1 })
  await call('count')
  await call('pay', { amount: 2 }, { capabilities: { elicitation: { url: {} } } })
  expect(seen).toEqual([
    ['approval_required', false],
    ['approval_required', false],
    ['approval_required', false],
  ])
})

test('a call that only created a ticket is not logged or audited as run', async () => {
  const lines: LogLine[] = []
  const write = (line: LogLine): void => {
    lines.push(line)
  }
  const logger = { info: write, warn: write, error: write }
  const clock = fakeClock(1_700_000_000_000)
  const store = memoryStore(clock)
  const { call, server } = await openApprovalsFixture({}, { store, clock, audited: true, use: [log(logger)] })
  const { request_id } = requiredIn(await call('pay', { amount: 1 }))
  expect(lines.filter(({ tool: name }) => name === 'pay')).toMatchObject([
    { event: 'approval_required', outcome: 'approval_required', ticket: request_id },
  ])
  await server.close()
  const outcomes: unknown[] = []
  for await (const { record } of readAllAudit(store, 'acme'))
    if (record['kind'] === 'ended') outcomes.push(record['outcome'])
  expect(outcomes).toEqual(['approval_required'])
})
