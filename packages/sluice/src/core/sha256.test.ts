import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256 } from './sha256.ts'

const reference = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')

test('the empty text and the standard example have their published digests', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('any text has the digest that node:crypto computes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(sha256(text)).toBe(reference(text))
    }),
    { numRuns: 2_000 },
  )
})

test('every length near a block boundary is padded correctly', () => {
  for (let length = 0; length <= 1_100; length++)
    for (const text of ['x'.repeat(length), '世'.repeat(length)]) expect(sha256(text)).toBe(reference(text))
})

test('a text of many blocks, and text past ASCII, are hashed as UTF-8', () => {
  const long = 'Grüße, 世界 👋\n'.repeat(10_000)
  expect(sha256(long)).toBe(reference(long))
})

test('half a surrogate pair counts as the replacement character', () => {
  expect(sha256('a\ud800b')).toBe(reference('a\ufffdb'))
})
