/** Packages meet at their entries, and the three rooms of the console know each other one way only. */

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const read = (file: string): string => readFileSync(root + file, 'utf8')
const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file)

/** Every module that a file names: imports, exports, `import()` and imports without names. */
const importsOf = (file: string): readonly string[] =>
  [...read(file).matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, source = '']) => source)
/** Relative ones as paths from the root of the repository, the others as they are. */
const targetsOf = (file: string): readonly string[] =>
  importsOf(file).map((source) => (source.startsWith('.') ? join(dirname(file), source) : source))
const filesIn = (...patterns: readonly string[]): readonly string[] => globSync([...patterns], { cwd: root }).sort()

const packages = filesIn('{packages,servers}/*/package.json').map(dirname)
const sourcesIn = (folder: string): readonly string[] =>
  filesIn(`${folder}/**/*.{ts,tsx}`).filter((file) => !file.includes('/node_modules/') && !isTest(file))

test.each(packages)('%s imports no file of another package', (folder) => {
  const outside = sourcesIn(`${folder}/src`).flatMap((file) =>
    targetsOf(file)
      .filter((target) => /^(packages|servers)\//.test(target) && !target.startsWith(`${folder}/`))
      .map((target) => `${file}: ${target}`),
  )
  expect(outside).toEqual([])
})

const consoleFolder = 'packages/console'
/** Maps a room of the console to what it may import. */
const rooms: { readonly [room: string]: readonly RegExp[] } = {
  api: [/^packages\/console\/src\/api\//],
  server: [/^packages\/console\/src\/(api|server)\//, /^node:/, /^sluice(\/|$)/],
  page: [
    ...[/^packages\/console\/src\/page\//, /^packages\/console\/src\/api\/index\.ts$/, /^preact(\/|$)/, /^uplot(\/|$)/],
    // The page marks texts by the same function as a terminal, and has words for every outcome of a call.
    ...[/^sluice\/approvals$/, /^sluice\/extend$/],
  ],
}

test.each(Object.entries(rooms))('the room %s of the console imports only what it may', (room, allowed) => {
  const found = sourcesIn(`${consoleFolder}/src/${room}`).flatMap((file) =>
    targetsOf(file)
      .filter((target) => !allowed.some((pattern) => pattern.test(target)))
      .map((target) => `${file}: ${target}`),
  )
  expect(found).toEqual([])
})

test('every folder of the console is a room', () => {
  expect(filesIn(`${consoleFolder}/src/*`).map((folder) => folder.split('/').at(-1))).toEqual(
    Object.keys(rooms).toSorted(),
  )
})

test('the library does not know the console', () => {
  const known = sourcesIn('packages/sluice/src').filter((file) =>
    targetsOf(file).some((target) => target.startsWith('@sluice/') || target.includes('/console/')),
  )
  expect(known).toEqual([])
})

test('tests, scripts, examples and benchmarks use the console by its entry', () => {
  const users = filesIn('{test,scripts,examples,bench}/**/*.ts', '{packages,servers}/*/test/**/*.ts')
  const inside = users.filter((file) => targetsOf(file).some((target) => target.startsWith(`${consoleFolder}/`)))
  expect(inside.filter((file) => !file.includes('/node_modules/'))).toEqual([])
})

/** The names that a file imports from `sluice/internal`. */
const internalNamesIn = (file: string): readonly string[] =>
  [...read(file).matchAll(/^import (?:type )?\{([^}]+)\} from 'sluice\/internal'$/gm)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim().replace(/ as .*/, '')),
  )

test('sluice/internal has the names that the console uses and no other', () => {
  const exported = [...read('packages/sluice/src/internal.ts').matchAll(/^export (?:type )?\{ (.+) \} from/gm)].flatMap(
    ([, names = '']) => names.split(', '),
  )
  const used = new Set(filesIn(`${consoleFolder}/src/**/*.ts`).flatMap(internalNamesIn))
  expect(exported.toSorted()).toEqual([...used].toSorted())
})

test('sluice/internal is for the console alone', () => {
  const users = filesIn('{packages,servers,examples,bench,scripts,test}/**/*.{ts,tsx}')
    .filter((file) => !/\/(node_modules|dist|lib)\//.test(file))
    .filter((file) => importsOf(file).includes('sluice/internal'))
  expect(users.length).toBeGreaterThan(5)
  expect(users.filter((file) => !file.startsWith(`${consoleFolder}/src/server/`))).toEqual([])
})

test('the rules are about something: the imports of each kind are found', () => {
  expect(targetsOf(`${consoleFolder}/src/page/main.tsx`)).toContain(`${consoleFolder}/src/page/app.tsx`)
  expect(targetsOf(`${consoleFolder}/src/server/index.ts`)).toContain(`${consoleFolder}/src/api/index.ts`)
  expect(targetsOf('packages/cli/src/host/host.ts')).toContain('@sluice/console')
})
