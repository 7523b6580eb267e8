import { expect, test } from 'vitest'
import type { TurnQueue } from './turn-queue.ts'
import { createTurnQueue } from './turn-queue.ts'

/** An event loop whose time the test controls. Work in it advances the time. */
function createLoop() {
  let time = 0
  let due: (() => void)[] = []
  const turn: TurnQueue = createTurnQueue({
    now: () => time,
    onTurnEnd: (then) => {
      due.push(then)
    },
  })
  return {
    turn,
    now: () => time,
    /** Advances the time, like work that blocks the loop. */
    block(ms: number) {
      time += ms
    },
    /** Runs one turn of the loop. False if there was nothing to do. */
    end(): boolean {
      const now = due
      due = []
      for (const then of now) then()
      return now.length > 0
    },
  }
}

test('requests of one turn are served together, in order', () => {
  const { turn, end } = createLoop()
  const ran: number[] = []
  for (let index = 0; index < 100; index++) turn.add(() => ran.push(index))
  expect(ran).toEqual([])
  end()
  expect(ran).toEqual(Array.from({ length: 100 }, (_, index) => index))
})

test('work that blocks the loop runs a few per turn, in order, and none is lost', () => {
  const { turn, end, block } = createLoop()
  const ran: number[] = []
  const add = (index: number): void =>
    turn.add(() => {
      block(5)
      ran.push(index)
    })
  for (let index = 0; index < 4; index++) add(index)
  while (end());
  for (let index = 4; index < 100; index++) add(index)
  const before = ran.length
  end()
  expect(ran.length - before).toBeLessThan(20)
  while (end());
  expect(ran).toEqual(Array.from({ length: 100 }, (_, index) => index))
})

test('quick work runs in one turn', () => {
  const { turn, end, block } = createLoop()
  let ran = 0
  const quick = (): void => {
    block(0.02)
    ran++
  }
  turn.add(quick)
  while (end());
  for (let index = 0; index < 400; index++) turn.add(quick)
  end()
  expect(ran).toBe(401)
})

test('one client with a few calls at once is never refused, however long they block', () => {
  const { turn, end, block } = createLoop()
  let refused = 0
  for (let round = 0; round < 20; round++) {
    for (let call = 0; call < 8; call++)
      turn.add(
        () => block(500),
        () => refused++,
      )
    while (end());
  }
  expect(refused).toBe(0)
})

/** Fills the queue with more than a second of work, until a request is refused. */
function overload({ turn, end, block }: ReturnType<typeof createLoop>): void {
  for (let turns = 0; !turn.refuses(0); turns++) {
    expect(turns).toBeLessThan(50)
    for (let index = 0; index < 50; index++) turn.add(() => block(5))
    end()
  }
}

test('a queue of more than a second is an overload, in which requests that waited are refused', () => {
  const loop = createLoop()
  overload(loop)
  let refused = 0
  for (let index = 0; index < 50; index++)
    loop.turn.add(
      () => loop.block(5),
      () => refused++,
    )
  while (loop.end());
  expect(refused).toBeGreaterThan(30)
})

test('after the overload the next request does not wait', () => {
  const loop = createLoop()
  overload(loop)
  while (loop.end());
  expect(loop.turn.refuses(0)).toBe(false)
})

test('work that other requests have left to do is an overload too, and refuses only while it is there', () => {
  const { turn } = createLoop()
  expect(turn.refuses(1_000)).toBe(false)
  expect(turn.refuses(1_001)).toBe(true)
  expect(turn.refuses(41)).toBe(true)
  expect(turn.refuses(40)).toBe(false)
})

test('an overload ends after 5 s unless a quarter of a second of work waits then', () => {
  const { turn, block } = createLoop()
  expect(turn.refuses(1_001)).toBe(true)
  block(5_000)
  expect(turn.refuses(250)).toBe(false)
  expect(turn.refuses(251)).toBe(true)
  block(15_000)
  expect(turn.refuses(1_000)).toBe(false)
})
