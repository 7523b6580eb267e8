import { expect, test, vi } from 'vitest'
import { silentLogger } from '../core/log.ts'
import { memoryStore } from '../stores/memory.ts'
import { memoryBus } from '../stores/memory-bus.ts'
import type { FakeClock } from '../testing/clock.ts'
import { fakeClock } from '../testing/clock.ts'
import type { Decider } from './decide.ts'
import type { ApprovalEngine } from './engine.ts'
import { createApprovalEngine } from './engine.ts'
import type { ApprovalsOptions } from './service.ts'
import type { Proposal } from './ticket.ts'

const minute = 60_000
const ann: Decider = { subject: 'ann', via: 'console', tenants: ['acme'], operator: false }
const bob: Decider = { ...ann, subject: 'bob', operator: true }
const eve: Decider = { ...bob, subject: 'eve' }

interface Opened {
  readonly desk: ApprovalEngine
  readonly clock: FakeClock
  readonly recorded: ReturnType<typeof vi.fn>
  propose(given?: Partial<Proposal>): Promise<string>
}

let ids = 0
function open(options: ApprovalsOptions = {}): Opened {
  const clock = fakeClock(1_000_000)
  const recorded = vi.fn()
  const desk = createApprovalEngine(
    { store: memoryStore(clock), bus: memoryBus(), clock, logger: silentLogger, record: recorded },
    options,
  )
  return {
    desk,
    clock,
    recorded,
    async propose(given = {}) {
      const id = `t${++ids}`
      const slot = (await desk.ticketStore.takeSlot('acme', 'ann', id, 100)) ?? ''
      await desk.ticketStore.add(
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
          approver: desk.approver,
          needed: 1,
          createdAt: clock.now(),
          expiresAt: clock.now() + 10 * minute,
          epoch: (await desk.time.now()).epoch,
          slot,
          ...given,
        },
        undefined,
      )
      return id
    },
  }
}

test('undecided tickets come first, the oldest in front, then the others, the newest in front; in pages', async () => {
  const { desk, clock, propose } = open()
  const made: string[] = []
  for (let n = 0; n < 5; n++) {
    made.push(await propose())
    await clock.advance(1)
  }
  const [a, b, c, d, e] = made
  await desk.decide(b ?? '', { approved: true }, bob)
  await desk.decide(d ?? '', { approved: false }, bob)
  const listed: string[] = []
  let after: string | undefined
  let pages = 0
  do {
    const page = await desk.list({ limit: 2, ...(after !== undefined && { after }) })
    listed.push(...page.tickets.map(({ id }) => id))
    after = page.next
    pages++
  } while (after !== undefined)
  expect(listed).toEqual([a, c, e, d, b])
  expect(pages).toBeGreaterThan(2)
  expect((await desk.list({ status: 'denied' })).tickets.map(({ id }) => id)).toEqual([d])
  expect((await desk.list({ tenant: 'other' })).tickets).toEqual([])
})

test('a decision is made once; said again by the same person it is the same, said otherwise it is a conflict', async () => {
  const { desk, propose } = open()
  const id = await propose()
  expect(await desk.decide(id, { approved: true, note: 'fine' }, bob)).toMatchObject({
    status: 'approved',
    decisions: [{ by: 'bob', via: 'console', approved: true, note: 'fine' }],
  })
  expect(await desk.decide(id, { approved: true }, bob)).toMatchObject({ status: 'approved' })
  await expect(desk.decide(id, { approved: false }, bob)).rejects.toMatchObject({ reason: 'conflict' })
  await expect(desk.decide(id, { approved: true }, eve)).rejects.toMatchObject({ reason: 'conflict' })
})

test('of fifty who decide at once, one does', async () => {
  const { desk, propose, recorded } = open()
  const id = await propose()
  const people = Array.from({ length: 50 }, (_, n) => ({ ...bob, subject: `person ${n}` }))
  const outcomes = await Promise.allSettled(people.map((by, n) => desk.decide(id, { approved: n % 2 === 0 }, by)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(recorded.mock.calls.filter(([, kind]) => kind === 'decided')).toHaveLength(1)
})

test('time to decide and time to run are up by the store’s clock, and the ticket says expired', async () => {
  const { desk, clock, propose } = open()
  const [undecided, unused] = [await propose(), await propose()]
  await desk.decide(unused, { approved: true }, bob)
  await clock.advance(10 * minute)
  expect(await desk.get(undecided)).toMatchObject({ status: 'expired', decisions: [] })
  expect(await desk.get(unused)).toMatchObject({ status: 'expired', decisions: [{ by: 'bob' }] })
  await expect(desk.decide(undecided, { approved: true }, bob)).rejects.toMatchObject({ reason: 'approvalInvalid' })
  expect((await desk.list({ status: 'pending' })).tickets).toEqual([])
  expect((await desk.list({ status: 'expired' })).tickets).toHaveLength(2)
})

test('where two of three are needed, each counts once, and one denial is enough', async () => {
  const { desk, propose } = open()
  const rule = { needed: 2, of: ['bob', 'eve', 'zoe'] }
  const [first, second] = [await propose(rule), await propose(rule)]
  for (let again = 0; again < 2; again++)
    expect(await desk.decide(first, { approved: true }, bob)).toMatchObject({
      status: 'pending',
      decisions: [{ by: 'bob' }],
    })
  await expect(desk.decide(first, { approved: true }, { ...bob, subject: 'max' })).rejects.toMatchObject({
    reason: 'forbidden',
  })
  expect(await desk.decide(first, { approved: true }, eve)).toMatchObject({ status: 'approved' })
  await desk.decide(second, { approved: true }, bob)
  expect(await desk.decide(second, { approved: false, note: 'no' }, eve)).toMatchObject({ status: 'denied' })
})

test('a part of the votes does not give the ticket more time', async () => {
  const { desk, clock, propose } = open()
  const id = await propose({ needed: 2 })
  await clock.advance(9 * minute)
  await desk.decide(id, { approved: true }, bob)
  await clock.advance(minute)
  await expect(desk.decide(id, { approved: true }, eve)).rejects.toMatchObject({ reason: 'approvalInvalid' })
})

test('whoever watches hears of each change', async () => {
  const { desk, propose } = open()
  const heard = vi.fn()
  const silence = desk.watch(heard)
  const [one, two] = [await propose(), await propose()]
  await desk.decide(one, { approved: true }, bob)
  expect(heard).toHaveBeenLastCalledWith({ id: one, status: 'approved' })
  silence()
  await desk.decide(two, { approved: false }, bob)
  expect(heard).toHaveBeenCalledTimes(1)
})

test('a ticket shows the last approved call like it, and where to decide', async () => {
  const { desk, propose } = open({ url: 'https://console.example/' })
  const before = await propose({ arguments: '{"amount":1}' })
  await desk.decide(before, { approved: true }, bob)
  const id = await propose({ arguments: '{"amount":2}', previous: before })
  expect(await desk.get(id)).toMatchObject({
    previous: { id: before, arguments: '{"amount":1}', status: 'approved' },
    url: `https://console.example/approvals/${id}`,
  })
})

test('a note is kept short and whole', async () => {
  const { desk, propose } = open()
  const id = await propose()
  const { decisions } = await desk.decide(id, { approved: false, note: `${'x'.repeat(5000)}\ud800` }, bob)
  expect(decisions[0]?.note).toHaveLength(1000)
})
