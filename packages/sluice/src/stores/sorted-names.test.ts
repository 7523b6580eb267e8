import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareEncoded } from './memory.ts'
import { createSortedNames } from './sorted-names.ts'

/** Padded, so that neighbours in number are neighbours in order. */
const toName = (n: number): string => String(n).padStart(5, '0')
/** A short name, in which an emoji must sort after U+FFFD. Few exist, so that they meet. */
const name = fc.oneof(
  fc.nat(5_000).map(toName),
  fc.string({ unit: fc.constantFrom('a', 'b', '\ufffd', '\u{1f600}'), maxLength: 3 }),
)
/** One change, or a run of neighbours that fills, splits, empties and joins chunks. */
const change = fc.record({
  adds: fc.boolean(),
  names: fc.oneof(
    name.map((one) => [one]),
    fc
      .tuple(fc.nat(5_000), fc.integer({ min: 500, max: 3_000 }), fc.integer({ min: 1, max: 3 }))
      .map(([from, length, step]) => Array.from({ length }, (_, i) => toName(from + i * step))),
  ),
  from: name,
})

test('names are in order after any changes, from any name on', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const names = createSortedNames((a, b) => compareEncoded(a, b) > 0)
      const model = new Set<string>()
      for (const { adds, names: changed, from } of changes) {
        for (const one of changed)
          if (!adds) {
            model.delete(one)
            names.delete(one)
          } else if (!model.has(one)) {
            model.add(one)
            names.add(one)
          }
        const sorted = [...model].sort(compareEncoded)
        expect([...names.after(from)]).toEqual(sorted.filter((one) => compareEncoded(one, from) > 0))
      }
    }),
    // A smaller example would take minutes to find.
    { numRuns: 300, endOnFailure: true },
  )
})
