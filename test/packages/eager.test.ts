/** The build marks the functions that a start runs. What the code does stays the same, and V8 compiles them early. */

import { expect, test } from 'vitest'
import { markEager } from '../../scripts/eager.ts'

/** Marks each function that starts with one of these texts. */
function marked(text: string, ...starts: readonly string[]): string {
  const offsets = starts.map((start) => text.indexOf(start))
  expect(offsets).not.toContain(-1)
  return markEager(text, new Set(offsets))
}
const run = async (text: string): Promise<unknown> =>
  (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as unknown

test('a declaration can be called above its place, and keeps its name', async () => {
  const text = `#!/usr/bin/env node
// first.js
export const sum = add(1, 2)
function add(a, b) {
  return twice(a) + b
  function twice(n) { return n * 2 }
}
export const names = [add.name, add.length]`
  const result = marked(text, 'function add', 'function twice')
  expect(result).toContain('var add = (function ')
  expect(result).toContain('var twice = (function ')
  expect(await run(result)).toMatchObject({ sum: 4, names: ['add', 2] })
})

test('a method can call an outer function of its name', async () => {
  const text = `const close = () => 'outer'
export const handle = { close() { return close() }, async later() { return this.close() }, *all() { yield 1 }, ['a' + 1]() { return 2 } }
export const results = [handle.close(), await handle.later(), ...handle.all(), handle.a1()]
export const names = [handle.close.name, handle.later.name, handle.a1.name]`
  const result = marked(text, '() =>', 'close() {', 'async later', '*all', "['a'")
  expect(result.match(/: \(/g)).toHaveLength(4)
  expect(await run(result)).toMatchObject({ results: ['outer', 'outer', 1, 2], names: ['close', 'later', 'a1'] })
})

test('accessors, methods of classes and functions within blocks stay as they are', async () => {
  const text = `class Counter { #n = 0; add() { return ++this.#n } static of() { return new Counter() } }
export const first = { get value() { return Counter.of().add() } }
{ function inner() { return 1 } }`
  expect(marked(text, 'add()', 'of()', 'get value', 'function inner')).toBe(text)
})

test('functions that are not named stay as they are', () => {
  const text = 'export const a = () => 1\nexport const b = function () { return a() }\nfunction c() {}'
  expect(markEager(text, new Set())).toBe(text)
  expect(marked(text, '() =>')).toBe(text.replace('() => 1', '(() => 1)'))
})
