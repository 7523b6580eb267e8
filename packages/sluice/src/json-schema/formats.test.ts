import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatOf } from './formats.ts'

const isRegex = formatOf('regex')

test('a regular expression is valid if JavaScript compiles it', () => {
  const piece = fc.constantFrom(
    ...['\\p{L}', '\\P{Lu}', '\\p{Script=Greek}', '\\p{Nothing}', '\\p', '\\p{', '\\\\', '\\u{1F44B}', '\\-', '\\👋'],
    ...['[', '[^', ']', '-', '(', '(?<p>', ')', '|', '*', '{2}', '}', 'a', '👋'],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('')
      expect(isRegex?.(text)).toBe(compiles(text))
    }),
    { numRuns: 5_000 },
  )
})

function compiles(text: string): boolean {
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}

test('a long regular expression is checked at once', () => {
  // JavaScript itself takes minutes for the first, past the time that a test has.
  expect(isRegex?.(`[${'\\p{L}'.repeat(1_000_000)}]`)).toBe(true)
  expect(isRegex?.('\\p{'.repeat(300_000))).toBe(false)
})
