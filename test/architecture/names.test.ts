/** One name, one type: a reader who searches for an exported type of the library finds one declaration. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../packages/sluice/src')

/** Overloads and a type beside its value are in one file, so files are counted and not declarations. */
const filesByType = new Map<string, Set<string>>()
for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.ts') || file.endsWith('.test.ts') || file.endsWith('.d.ts')) continue
  const text = readFileSync(join(root, file), 'utf8')
  for (const [, name = ''] of text.matchAll(/^export (?:declare |abstract )?(?:interface|type|class|enum) (\w+)/gm))
    filesByType.set(name, (filesByType.get(name) ?? new Set()).add(file))
}

test('an exported type is declared in one file of the library', () => {
  const shared = [...filesByType].filter(([, files]) => files.size > 1)
  expect(shared.map(([name, files]) => `${name}: ${[...files].join(', ')}`)).toEqual([])
})

test('the rule is about something: the types are found', () => {
  expect(filesByType.size).toBeGreaterThan(200)
  expect(filesByType.get('Call')).toEqual(new Set(['core/call.ts']))
})
