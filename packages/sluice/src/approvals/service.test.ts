import { expect, test, vi } from 'vitest'
import { silentLogger } from '../core/log.ts'
import { memoryStore } from '../stores/memory.ts'
import { memoryBus } from '../stores/memory-bus.ts'
import type { FakeClock } from '../testing/clock.ts'
import { fakeClock } from '../testing/clock.ts'
import type { Decider } from './decide.ts'
import type { ApprovalsOptions, ApprovalsService } from './service.ts'
import { createSharedApprovals } from './service.ts'
import type { Proposal } from './ticket.ts'

const minute = 60_000
const ann: Decider = { subject: 'ann', via: 'console', tenants: ['acme'], operator: false }
const bob: Decider = { ...ann, subject: 'bob', operator: true }
const eve: Decider = { ...bob, subject: 'eve' }

interface Opened {
  readonly approvals: ApprovalsService
  readonly clock: FakeClock
  readonly recorded: ReturnType<typeof vi.fn>
  propose(overrides?: Partial<Proposal>): Promise<string>
}

let ids = 0
function open(options: ApprovalsOptions = {}): Opened {
  const clock = fakeClock(1_000_000)
  const recorded = vi.fn()
  const { service, ticketStore, time, approver } = createSharedApprovals(
    { store: memoryStore(clock), bus: memoryBus(), clock, logger: silentLogger, record: recorded },
    options,
  )
  return {
    approvals: service,
    clock,
    recorded,
    async propose(overrides = {}) {
      const id = `t${++ids}`
      const slot = (await ticketStore.takeSlot('acme', 'ann', id, 100)) ?? ''
      await ticketStore.add(
        {
          id,
          tenant: 'acme',
          caller: { subject: 'ann', credential: 'key 1' },
          server: 'shop',
          tool: 'pay',
          description: 'Pays',
          annotations: {},
          arguments: '{"amount":1}',
          answers: '{}',
          digest: `digest of ${id}`,
          definition: 'definition',
          binding: `binding of ${id}`,
          approver: approver,
          needed: 1,
          createdAt: clock.now(),
          expiresAt: clock.now() + 10 * minute,
          epoch: (await time.now()).epoch,
          slot,
          ...overrides,
        },
        undefined,
      )
      return id
    },
  }
}

test('lists pending tickets first, oldest first, then the others, newest first, in pages', async () => {
  const { approvals, clock, propose } = open()
  const made: string[] = []
  for (let n = 0; n < 5; n++) {
    made.push(await propose())
    await clock.advance(1)
  }
  const [a, b, c, d, e] = made
  await approvals.decide(b ?? '', { approved: true }, bob)
  await approvals.decide(d ?? '', { approved: false }, bob)
  const listed: string[] = []
  let after: string | undefined
  let pages = 0
  do {
    const page = await approvals.list({ limit: 2, ...(after !== undefined && { after }) })
    listed.push(...page.tickets.map(({ id }) => id))
    after = page.next
    pages++
  } while (after !== undefined)
  expect(listed).toEqual([a, c, e, d, b])
  expect(pages).toBeGreaterThan(2)
  expect((await approvals.list({ status: 'denied' })).tickets.map(({ id }) => id)).toEqual([d])
  expect((await approvals.list({ tenant: 'other' })).tickets).toEqual([])
})

test('the same decision by the same person is accepted again; any other is a conflict', async () => {
  const { approvals, propose } = open()
  const id = await propose()
  expect(await approvals.decide(id, { approved: true, note: 'fine' }, bob)).toMatchObject({
    status: 'approved',
    decisions: [{ by: 'bob', via: 'console', approved: true, note: 'fine' }],
  })
  expect(await approvals.decide(id, { approved: true }, bob)).toMatchObject({ status: 'approved' })
  await expect(approvals.decide(id, { approved: false }, bob)).rejects.toMatchObject({ reason: 'conflict' })
  await expect(approvals.decide(id, { approved: true }, eve)).rejects.toMatchObject({ reason: 'conflict' })
})

test('an approval is taken back by the person who gave it, until the ticket is spent', async () => {
  const { approvals, propose } = open()
  const id = await propose()
  await expect(approvals.takeBack(id, bob)).rejects.toMatchObject({ reason: 'conflict' })
  await approvals.decide(id, { approved: true }, bob)
  await expect(approvals.takeBack(id, eve)).rejects.toMatchObject({ reason: 'conflict' })
  expect(await approvals.takeBack(id, bob)).toMatchObject({
    status: 'denied',
    decisions: [{ approved: true }, { by: 'bob', approved: false }],
  })
  await expect(approvals.takeBack(id, bob)).rejects.toMatchObject({ reason: 'conflict' })
  await expect(approvals.decide(id, { approved: true }, bob)).rejects.toMatchObject({ reason: 'conflict' })
})

test('accepts one of fifty concurrent decisions', async () => {
  const { approvals, propose, recorded } = open()
  const id = await propose()
  const people = Array.from({ length: 50 }, (_, n) => ({ ...bob, subject: `person ${n}` }))
  const outcomes = await Promise.allSettled(people.map((by, n) => approvals.decide(id, { approved: n % 2 === 0 }, by)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(recorded.mock.calls.filter(([, kind]) => kind === 'decided')).toHaveLength(1)
})

test('a ticket expires when the time to decide or to run is up', async () => {
  const { approvals, clock, propose } = open()
  const [undecided, unused] = [await propose(), await propose()]
  await approvals.decide(unused, { approved: true }, bob)
  await clock.advance(10 * minute)
  expect(await approvals.get(undecided)).toMatchObject({ status: 'expired', decisions: [] })
  expect(await approvals.get(unused)).toMatchObject({ status: 'expired', decisions: [{ by: 'bob' }] })
  await expect(approvals.decide(undecided, { approved: true }, bob)).rejects.toMatchObject({
    reason: 'approvalInvalid',
  })
  expect((await approvals.list({ status: 'pending' })).tickets).toEqual([])
  expect((await approvals.list({ status: 'expired' })).tickets).toHaveLength(2)
})

test('if two of three must approve, each person counts once, and one denial denies', async () => {
  const { approvals, propose } = open()
  const rule = { needed: 2, of: ['bob', 'eve', 'zoe'] }
  const [first, second] = [await propose(rule), await propose(rule)]
  for (let again = 0; again < 2; again++)
    expect(await approvals.decide(first, { approved: true }, bob)).toMatchObject({
      status: 'pending',
      decisions: [{ by: 'bob' }],
    })
  await expect(approvals.decide(first, { approved: true }, { ...bob, subject: 'max' })).rejects.toMatchObject({
    reason: 'forbidden',
  })
  expect(await approvals.decide(first, { approved: true }, eve)).toMatchObject({ status: 'approved' })
  await approvals.decide(second, { approved: true }, bob)
  expect(await approvals.decide(second, { approved: false, note: 'no' }, eve)).toMatchObject({ status: 'denied' })
})

test('an approval that is not yet enough does not extend the time to decide', async () => {
  const { approvals, clock, propose } = open()
  const id = await propose({ needed: 2 })
  await clock.advance(9 * minute)
  await approvals.decide(id, { approved: true }, bob)
  await clock.advance(minute)
  await expect(approvals.decide(id, { approved: true }, eve)).rejects.toMatchObject({ reason: 'approvalInvalid' })
})

test('notifies watchers of each change until they unsubscribe', async () => {
  const { approvals, propose } = open()
  const listener = vi.fn()
  const unsubscribe = approvals.watch(listener)
  const [one, two] = [await propose(), await propose()]
  await approvals.decide(one, { approved: true }, bob)
  expect(listener).toHaveBeenLastCalledWith({ id: one, status: 'approved' })
  unsubscribe()
  await approvals.decide(two, { approved: false }, bob)
  expect(listener).toHaveBeenCalledTimes(1)
})

test('a ticket shows the last approved similar call and the URL of its page', async () => {
  const { approvals, propose } = open({ url: 'https://console.example/' })
  const before = await propose({ arguments: '{"amount":1}' })
  await approvals.decide(before, { approved: true }, bob)
  const id = await propose({ arguments: '{"amount":2}', previous: before })
  expect(await approvals.get(id)).toMatchObject({
    previous: { id: before, arguments: '{"amount":1}', status: 'approved' },
    url: `https://console.example/approvals/${id}`,
  })
})

test('shortens a note, and does not split a surrogate pair', async () => {
  const { approvals, propose } = open()
  const id = await propose()
  const { decisions } = await approvals.decide(id, { approved: false, note: `${'x'.repeat(5000)}\ud800` }, bob)
  expect(decisions[0]?.note).toHaveLength(1000)
})
