/** Every test that a row of docs/documents.md names must exist. */

import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const tests = globSync(
  ['test/documents/*.test.ts', 'test/approvals/document-003.test.ts', 'servers/*/test/*.test.ts'],
  {
    cwd: root,
  },
).map((file) => readFileSync(`${root}${file}`, 'utf8'))

/** The last cell of each row of the tables whose last column is headed "test". */
function namedTests(text: string): readonly string[] {
  const named: string[] = []
  let isNaming = false
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) isNaming = false
    else if (line.endsWith('| test |')) isNaming = true
    else if (isNaming && !line.startsWith('|---'))
      named.push(...(line.split(' | ').at(-1) ?? '').slice(0, -2).split('; '))
  }
  return named
}

test('every row of the five documents names tests that exist', () => {
  const named = namedTests(readFileSync(`${root}docs/documents.md`, 'utf8'))
  expect(named.length).toBeGreaterThan(130)
  // A title in quotes of either kind; a composed title begins like this.
  const isThere = (name: string): boolean =>
    tests.some((text) => text.includes(name.replaceAll("'", "\\'")) || text.includes(name))
  expect(named.filter((name) => !isThere(name))).toEqual([])
})
