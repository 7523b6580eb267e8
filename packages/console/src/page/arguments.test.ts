import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Section } from './arguments.ts'
import { changesOf, chunksOf, exactSection, indented, sectionsOf } from './arguments.ts'

describe('arguments', () => {
  test('are indented, and shown unchanged if they are not JSON', () => {
    expect(indented('{"a":[1,{"b":"x\\ny"}]}')).toBe('{\n  "a": [\n    1,\n    {\n      "b": "x\\ny"\n    }\n  ]\n}')
    expect(indented('{nonsense')).toBe('{nonsense')
  })

  const textOf = (sections: readonly Section[], at: number): string => {
    const lines = chunksOf(sections)
      .filter(({ section }) => section === at)
      .flatMap((chunk) => chunk.lines)
    return lines.map(({ text, isContinued }, index) => `${isContinued || index === 0 ? '' : '\n'}${text}`).join('')
  }

  test('are split into chunks without loss and without cutting a character', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 40 }), fc.nat(3000), (parts, times) => {
        const text = parts.join('\n').repeat(Math.ceil(times / 10))
        const sections = [{ name: '', lines: text.split('\n').map((line) => ({ text: line })), characters: 0 }]
        const chunks = chunksOf(sections)
        expect(textOf(sections, 0)).toBe(text)
        expect(chunks.filter(({ isLast }) => isLast)).toHaveLength(1)
        for (const { lines } of chunks) for (const line of lines) expect(line.text.isWellFormed()).toBe(true)
      }),
      { seed: 3, numRuns: 60 },
    )
    const long = [{ name: '', lines: [{ text: '🙂'.repeat(20_000) }], characters: 0 }]
    expect(textOf(long, 0)).toBe('🙂'.repeat(20_000))
    expect(chunksOf(long).every(({ lines }) => lines.every(({ text }) => text.isWellFormed()))).toBe(true)
  })

  test('show strings with line breaks or more than 200 characters as blocks, and all others in place', () => {
    const code = '(defun f ()\n  (g))'
    const args = { code, plain: 'short', list: [1, { deep: 'x'.repeat(201) }], empty: {} }
    const [json, ...blocks] = sectionsOf(JSON.stringify(args))
    expect(blocks.map(({ name, characters, lines }) => [name, characters, lines.length])).toEqual([
      ['code', code.length, 2],
      ['list[1].deep', 201, 1],
    ])
    expect(
      json?.lines.map(({ text, block, after }) => `${text}${block === undefined ? '' : `<${block}>${after}`}`),
    ).toEqual([
      '{',
      '  "code": <code>,',
      '  "plain": "short",',
      '  "list": [',
      '    1,',
      '    {',
      '      "deep": <list[1].deep>',
      '    }',
      '  ],',
      '  "empty": {}',
      '}',
    ])
    expect(exactSection(JSON.stringify(args))[0]?.lines[1]?.text).toBe('  "code": "(defun f ()\\n  (g))",')
  })

  test('lose nothing: the JSON with its blocks put back is the JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value)
        const [json, ...blocks] = sectionsOf(text)
        const named = new Map(blocks.map(({ name, lines }) => [name, lines.map((line) => line.text).join('\n')]))
        const whole = json?.lines
          .map((line) =>
            line.block === undefined ? line.text : `${line.text}${JSON.stringify(named.get(line.block))}${line.after}`,
          )
          .join('\n')
        expect(whole).toBe(indented(text))
      }),
    )
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
