/** `slots.ts` against its written invariants, and against a model that keeps plain lists, in random schedules. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SlotClaim } from './slots.ts'
import { createSlots } from './slots.ts'

const lanes = ['a', 'b', 'c'] as const

interface Seen {
  readonly lane: string
  readonly claim: SlotClaim
  /** Whether it waited, so that `settled` is how it hears. */
  readonly queued: boolean
  readonly heard: boolean[]
  endedAt: number | undefined
}

type Step =
  | { readonly do: 'arrive'; readonly lane: (typeof lanes)[number] }
  | { readonly do: 'end'; readonly which: number; readonly times: number }
  /** The next claim that hears of its slot ends at once, while the slots are still handing out. */
  | { readonly do: 'endWhenHeld' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('arrive' as const), lane: fc.constantFrom(...lanes) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(1_000),
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('endWhenHeld' as const) }) },
)

test('in any schedule of arrivals, ends and clients that leave, every slot is accounted for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 5 }),
      fc.array(step, { maxLength: 120 }),
      (size, queue, steps) => {
        const slots = createSlots({ slots: size, queue })
        const seen: Seen[] = []
        let endNext = false
        let at = 0
        const count = (state: SlotClaim['state']): number => seen.filter(({ claim }) => claim.state === state).length

        function arrive(lane: string): void {
          const free = slots.take()
          if (free) {
            seen.push({ lane, claim: free, queued: false, heard: [], endedAt: undefined })
            return
          }
          const heard: boolean[] = []
          const claim = slots.wait(lane, (held) => {
            heard.push(held)
            const own = seen.find((each) => each.heard === heard)
            expect(own?.endedAt, 'settled after end').toBeUndefined()
            expect(own?.claim.state).toBe(held ? 'held' : 'ended')
            if (!held && own) own.endedAt = at
            if (held && endNext && own) {
              endNext = false
              own.endedAt = at
              own.claim.release()
            }
          })
          if (claim) seen.push({ lane, claim, queued: true, heard, endedAt: undefined })
          else expect(slots.taken).toBe(size)
        }
        function end(which: number, times: number): void {
          const live = seen.filter(({ endedAt }) => endedAt === undefined)
          const one = live[which % Math.max(1, live.length)]
          if (!one) return
          // Which claim is next, by the model: the lanes take turns, so it is the first of some lane that waits.
          const firsts = lanes.map((lane) => seen.find((each) => each.lane === lane && each.claim.state === 'waiting'))
          const freed = one.claim.state === 'held'
          const endsAgain = endNext
          one.endedAt = at
          for (let time = 0; time < times; time++) one.claim.release()
          if (!freed || endsAgain) return
          const waited = firsts.filter((each) => each !== undefined)
          const granted = waited.filter(({ claim }) => claim.state === 'held')
          expect(granted.length, 'one end frees one slot').toBe(Math.min(1, waited.length))
        }

        for (const each of steps) {
          at++
          if (each.do === 'arrive') arrive(each.lane)
          else if (each.do === 'end') end(each.which, each.times)
          else endNext = true
          expect(slots.taken).toBe(count('held'))
          expect(slots.taken).toBeLessThanOrEqual(size)
          expect(slots.waiting).toBe(count('waiting'))
          expect(slots.waiting).toBeLessThanOrEqual(queue)
          if (slots.waiting > 0) expect(slots.taken).toBe(size)
          for (const { heard, queued, claim } of seen) {
            expect(heard.length).toBeLessThanOrEqual(1)
            if (queued && claim.state === 'held') expect(heard).toEqual([true])
          }
        }
        for (const { claim } of seen) claim.release()
        expect([slots.taken, slots.waiting]).toEqual([0, 0])
      },
    ),
    { numRuns: 500 },
  )
})
