import type { TicketView } from 'sluice/approvals'
import { expect, test } from 'vitest'
import { drawScreen } from './screen.ts'
import type { WatchState } from './state.ts'
import { emptyWatch, pressKey, settleMs, withTickets } from './state.ts'

const aTicket = (id: string, args: object = { order: 1 }): TicketView => ({
  ...{ id, tenant: 'acme', server: 'shop', tool: 'refund', description: 'Gives money back', annotations: {} },
  ...{ caller: { subject: 'ann', credential: 'key' }, arguments: JSON.stringify(args), answers: '{}', digest: '' },
  ...{ definition: '', approver: 'client', needed: 1, createdAt: 0, expiresAt: 600_000, status: 'pending' },
  decisions: [],
})
const size = { columns: 80, rows: 24 }
const plain = { isTty: false }
const press = (state: WatchState, name: string, now: number, at = size): ReturnType<typeof pressKey> =>
  pressKey(
    state,
    { name, ctrl: false, text: name.length === 1 ? name : '' },
    now,
    drawScreen(state, at, now, plain).shown,
  )
const screenOf = (state: WatchState, at = size, now = 10_000): string =>
  drawScreen(state, at, now, plain).lines.join('\n')
const watching = (...tickets: readonly TicketView[]): WatchState => withTickets(emptyWatch, tickets, 0)

test('a key decides the ticket under the cursor, with its note', () => {
  let { state } = press(watching(aTicket('one'), aTicket('two')), 'j', 0)
  for (const key of ['n', 'o', 'k', 'return']) state = press(state, key, 0).state
  expect(press(state, 'a', settleMs).action).toEqual({ kind: 'decide', id: 'two', approved: true, note: 'ok' })
  expect(press(state, 'd', settleMs).action).toEqual({ kind: 'decide', id: 'two', approved: false, note: 'ok' })
})

test('a ticket that has just come under the cursor cannot be decided, however it came there', () => {
  const two = watching(aTicket('one'), aTicket('two'))
  // The first ticket was decided elsewhere right before the key.
  const moved = withTickets(two, [aTicket('two')], 5_000)
  for (const [state, since] of [
    [two, 0],
    [moved, 5_000],
    [press(two, 'down', 5_000).state, 5_000],
  ] as const)
    for (const key of ['a', 'd']) {
      expect(press(state, key, since + settleMs - 1)).toMatchObject({
        state: { message: expect.stringContaining('just come') },
      })
      expect(press(state, key, since + settleMs - 1).action).toBeUndefined()
      expect(press(state, key, since + settleMs).action).toBeDefined()
    }
})

test('the cursor stays on its ticket when others come and go', () => {
  const { state } = press(watching(aTicket('one'), aTicket('two')), 'down', 0)
  const later = withTickets(state, [aTicket('zero'), aTicket('two'), aTicket('three')], 5_000)
  expect(later).toMatchObject({ selected: 'two', selectedAt: 0 })
  expect(withTickets(later, [], 6_000)).toMatchObject({ selected: undefined })
})

test('a ticket that does not fit is read to its end before it is approved', () => {
  const long = watching(aTicket('one', { text: 'x'.repeat(5_000) }))
  const refused = press(long, 'a', settleMs)
  expect(refused).toMatchObject({ state: { view: 'ticket' } })
  expect(refused.action).toBeUndefined()
  let { state } = refused
  const read = [screenOf(state)]
  for (let page = 0; page < 10; page++) {
    state = press(state, 'space', settleMs).state
    read.push(screenOf(state))
  }
  expect(press(state, 'a', settleMs).action).toBeDefined()
  expect(read.at(-1)).toContain('x"')
  // A terminal that became smaller shows a part again.
  expect(press({ ...state, scroll: 0 }, 'a', settleMs).action).toBeUndefined()
  expect(press(watching(aTicket('one')), 'a', settleMs, { columns: 80, rows: 5 }).action).toBeUndefined()
})

test('every line fits the terminal, and control characters are visible text', () => {
  const args = { text: '\u001b[2J\u009b31m\u0007 \u202e 張偉 🙂', [`k\u001b${'y'.repeat(200)}`]: true }
  const state = watching({ ...aTicket('one', args), description: 'a\u001b[31m', tool: 'x\u0007y' }, aTicket('two'))
  for (const at of [size, { columns: 40, rows: 12 }, { columns: 20, rows: 8 }]) {
    const { lines } = drawScreen(state, at, 0, plain)
    expect(lines).toHaveLength(at.rows)
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(at.columns)
    expect(lines.join('')).not.toMatch(/\p{Cc}|\p{Cf}/u)
  }
  expect(screenOf(state)).toContain('[U+009B]31m')
})

test('q and Ctrl-C leave, and q in a note is a letter', () => {
  const state = watching(aTicket('one'))
  expect(press(state, 'q', 0).action).toEqual({ kind: 'leave' })
  const typing = press(state, 'n', 0).state
  expect(press(typing, 'q', 0)).toMatchObject({ state: { note: 'q' } })
  expect(
    pressKey(typing, { name: 'c', ctrl: true, text: '\u0003' }, 0, drawScreen(typing, size, 0, plain).shown).action,
  ).toEqual({ kind: 'leave' })
})
