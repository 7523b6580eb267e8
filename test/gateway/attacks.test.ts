/** The table of `README.md` in this folder: each bug and attack has the test that it names. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const textOf = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8')
const rows = [...textOf('README.md').matchAll(/^\|.*\| `(?<file>[^`]+\.ts)` \| (?<title>.+) \|$/gm)].map(
  ({ groups }) => ({ file: groups?.['file'] ?? '', title: groups?.['title'] ?? '' }),
)

test('every number has a row', () => {
  const numbers = [...textOf('README.md').matchAll(/^\| (?<number>\d+)\. /gm)].map(({ groups }) =>
    Number(groups?.['number']),
  )
  expect(numbers).toEqual(Array.from({ length: 27 }, (_, index) => index + 1))
})

test('every row names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(35)
  expect(rows.filter(({ file, title }) => !textOf(file).includes(title))).toEqual([])
})
