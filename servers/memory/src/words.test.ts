import { expect, test } from 'vitest'
import { spaceIdeographs, wordsOf } from './words.ts'

test('the words of a query are its distinct words, without case and punctuation', () => {
  expect(wordsOf('What does Anna drink? What, TEA?!')).toEqual(['anna', 'drink', 'tea'])
  expect(wordsOf('"quotes" AND (operators) OR col:umn NEAR* -not ^x')).toEqual([
    'quotes',
    'operators',
    'col',
    'umn',
    'near',
    'not',
    'x',
  ])
  expect(wordsOf('?!… —')).toEqual([])
})

test('ideographs are separate words, and a run of them is a phrase', () => {
  expect(spaceIdeographs('使用数据库v2')).toBe(' 使  用  数  据  库 v2')
  expect(wordsOf('数据库 PostgreSQL版')).toEqual(['数 据 库', 'postgresql', '版'])
})

test('a query of a thousand words uses the first 32 of them', () => {
  expect(wordsOf(Array.from({ length: 1000 }, (_, n) => `w${n}`).join(' '))).toHaveLength(32)
})
