import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LogLine } from '../../core/log.ts'
import { stringifyMembers } from './flat-json.ts'

const value = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(undefined))
const line: fc.Arbitrary<LogLine> = fc
  .dictionary(fc.string({ unit: 'binary', maxLength: 80 }), value)
  .map((fields) => ({ ...fields, event: 'request' }))

test('any line is the same as from JSON.stringify', () => {
  fc.assert(
    fc.property(line, (each) => {
      expect(`{${stringifyMembers(each).slice(1)}}`).toBe(JSON.stringify(each))
    }),
  )
})

test('a text is quoted the same again after thousands of others', () => {
  for (let i = 0; i < 10_000; i++) stringifyMembers({ event: `event ${i}` })
  expect(stringifyMembers({ event: 'event 1' })).toBe(',"event":"event 1"')
})
