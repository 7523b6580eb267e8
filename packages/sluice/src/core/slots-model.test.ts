/** Tests `slots.ts` in random schedules against its written invariants and against a model that holds plain lists. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SlotClaim } from './slots.ts'
import { createSlots } from './slots.ts'

const lanes = ['a', 'b', 'c'] as const

interface Seen {
  readonly lane: string
  readonly claim: SlotClaim
  /** Whether it waited. Its owner then learns the outcome from `settled`. */
  readonly queued: boolean
  readonly outcomes: boolean[]
  endedAt: number | undefined
}

type Step =
  | { readonly do: 'arrive'; readonly lane: (typeof lanes)[number] }
  | { readonly do: 'end'; readonly which: number; readonly times: number }
  /** The next claim that gets a slot is released at once, while `grant` still runs. */
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

test('every slot is accounted for, in any schedule of arrivals, releases and disconnects', () => {
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
            seen.push({ lane, claim: free, queued: false, outcomes: [], endedAt: undefined })
            return
          }
          const outcomes: boolean[] = []
          const claim = slots.wait(lane, (held) => {
            outcomes.push(held)
            const claimant = seen.find((each) => each.outcomes === outcomes)
            expect(claimant?.endedAt, 'settled after release').toBeUndefined()
            expect(claimant?.claim.state).toBe(held ? 'held' : 'ended')
            if (!held && claimant) claimant.endedAt = at
            if (held && endNext && claimant) {
              endNext = false
              claimant.endedAt = at
              claimant.claim.release()
            }
          })
          if (claim) seen.push({ lane, claim, queued: true, outcomes, endedAt: undefined })
          else expect(slots.taken).toBe(size)
        }
        function end(which: number, times: number): void {
          const live = seen.filter(({ endedAt }) => endedAt === undefined)
          const chosen = live[which % Math.max(1, live.length)]
          if (!chosen) return
          // The model's next claim: the lanes take turns, so it is the first waiting claim of some lane.
          const firsts = lanes.map((lane) => seen.find((each) => each.lane === lane && each.claim.state === 'waiting'))
          const freed = chosen.claim.state === 'held'
          const endsAgain = endNext
          chosen.endedAt = at
          for (let time = 0; time < times; time++) chosen.claim.release()
          if (!freed || endsAgain) return
          const waited = firsts.filter((each) => each !== undefined)
          const granted = waited.filter(({ claim }) => claim.state === 'held')
          expect(granted.length, 'one release frees one slot').toBe(Math.min(1, waited.length))
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
          for (const { outcomes, queued, claim } of seen) {
            expect(outcomes.length).toBeLessThanOrEqual(1)
            if (queued && claim.state === 'held') expect(outcomes).toEqual([true])
          }
        }
        for (const { claim } of seen) claim.release()
        expect([slots.taken, slots.waiting]).toEqual([0, 0])
      },
    ),
    { numRuns: 500 },
  )
})
