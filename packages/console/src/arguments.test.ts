import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changesOf, chunksOf, indented } from './arguments.ts'

describe('arguments', () => {
  test('are indented, and shown unchanged if they are not JSON', () => {
    expect(indented('{"a":[1,{"b":"x\\ny"}]}')).toBe('{\n  "a": [\n    1,\n    {\n      "b": "x\\ny"\n    }\n  ]\n}')
    expect(indented('{nonsense')).toBe('{nonsense')
  })

  test('are split into chunks without loss and without cutting a character', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 40 }), fc.nat(3000), (parts, times) => {
        const text = parts.join('\n').repeat(Math.ceil(times / 10))
        const chunks = chunksOf(text)
        expect(chunks.join('')).toBe(text)
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(12_000)
          expect(chunk.isWellFormed()).toBe(true)
        }
      }),
      { seed: 3, numRuns: 60 },
    )
    expect(chunksOf('🙂'.repeat(20_000)).every((chunk) => chunk.isWellFormed())).toBe(true)
  })

  test('are compared leaf by leaf', () => {
    const before = '{"amount":1,"to":{"name":"ann","tags":["a","b"]},"gone":null}'
    const now = '{"amount":100,"to":{"name":"ann","tags":["a","c","d"]},"new key":{}}'
    expect(changesOf(before, now)).toEqual({
      same: 2,
      changes: [
        { path: 'amount', before: '1', now: '100' },
        { path: 'to.tags[1]', before: '"b"', now: '"c"' },
        { path: 'to.tags[2]', now: '"d"' },
        { path: '"new key"', now: '{}' },
        { path: 'gone', before: 'null' },
      ],
    })
    expect(changesOf('{}', '{}')).toEqual({ same: 1, changes: [] })
    expect(changesOf('no json', '{}')).toBeUndefined()
  })
})
