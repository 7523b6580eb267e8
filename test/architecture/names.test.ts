/** Names: an exported type means one thing per package, and retired words do not come back. */

import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const read = (file: string): string => readFileSync(root + file, 'utf8')
/** Comments and strings say what they like; `scripts/plain-words.ts` reads those. */
const codeOf = (file: string): string =>
  read(file).replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, '')

const packages = globSync('{packages,servers}/*', { cwd: root }).sort()
const sources = globSync('{packages,servers}/*/src/**/*.{ts,tsx}', { cwd: root })
  .filter((file) => !/\.test\.tsx?$|\.d\.ts$/.test(file))
  .sort()

/** Names of types and functions that were replaced. docs/glossary.md has the words of today. */
const retiredNames: { readonly [folder: string]: readonly string[] } = {
  'packages/': [
    ...[
      'Around',
      'Surroundings',
      'surroundings',
      'Part',
      'Piece',
      'hear',
      'hearers',
      'said',
      'tell',
      'told',
      'callOff',
    ],
    ...[
      'Desk',
      'desk',
      'Office',
      'createOffice',
      'Shelf',
      'letGo',
      'Standing',
      'Site',
      'serveSites',
      'Opened',
      'panel',
    ],
    ...['Talk', 'Guest', 'welcome', 'Knock', 'lanes', 'createLanes', 'Take', 'createTake', 'aim', 'Aim', 'Answering'],
    ...['Outlet', 'Posted', 'Exchange', 'Elsewhere', 'Here', 'Presence', 'Watcher', 'Word', 'Sink', 'Plain'],
    ...['Stoppable', 'Resumable', 'Follower', 'wantedBy', 'Wanted', 'meet', 'Met', 'holdMs', 'Watch', 'deafen'],
    ...['giveBack', 'voice', 'legible', 'newsFor', 'honour', 'Visitor', 'Asker', 'Marks', 'Work', 'SocketWay', 'ways'],
    ...['keeper', 'operating', 'stopping', 'paste', 'explained', 'quietly', 'nearer', 'Named', 'lifeOf', 'patiently'],
    ...['survey', 'Spot', 'Door'],
  ],
  'servers/': ['Desk', 'desk', 'Ground', 'tally', 'trouble', 'callOff', 'hear', 'said', 'told'],
}
const retiredFiles: { readonly [folder: string]: readonly string[] } = {
  'packages/': [
    ...['parts', 'early', 'line', 'loggable', 'unanswered', 'deciding', 'propose', 'learn', 'hold', 'watch', 'numbers'],
    ...[
      'readers',
      'door',
      'hook',
      'feed',
      'attempts',
      'way',
      'take',
      'once',
      'limit',
      'gate',
      'office',
      'desk',
      'shelf',
    ],
    ...['lanes', 'standing', 'panel', 'paste', 'operating', 'stopping', 'exchange', 'site'],
  ],
  'servers/': ['desk', 'ground', 'tally', 'trouble'],
  'test/': ['gate', 'door', 'legs', 'shop', 'till', 'house', 'story', 'knocks', 'heaps', 'wander'],
}
const retiredIn = (lists: typeof retiredNames, file: string): readonly string[] =>
  Object.entries(lists).flatMap(([folder, names]) => (file.startsWith(folder) ? names : []))

const exportedTypes = (file: string): readonly string[] =>
  [...codeOf(file).matchAll(/^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm)].map(
    ([, name = '']) => name,
  )
const declared = (file: string): readonly string[] =>
  [...codeOf(file).matchAll(/\b(?:interface|type|class|function|const|let) (\w+)/g)].map(([, name = '']) => name)

test.each(packages)('%s exports each type name once', (folder) => {
  const names = sources.filter((file) => file.startsWith(`${folder}/`)).flatMap(exportedTypes)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})

test('no declaration has a retired name', () => {
  const found = sources.flatMap((file) =>
    declared(file)
      .filter((name) => retiredIn(retiredNames, file).includes(name) || /^\w+Around$/.test(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(found).toEqual([])
})

test('no file has a retired name', () => {
  const files = globSync(['{packages,servers}/*/{src,test}/**/*.{ts,tsx}', 'test/**/*.ts'], { cwd: root })
  const nameOf = (file: string): string => basename(file).replace(/\..*$/, '')
  expect(files.filter((file) => retiredIn(retiredFiles, file).includes(nameOf(file)))).toEqual([])
})

test('test/README.md says what each folder of tests proves', () => {
  const folders = globSync('test/*/', { cwd: root }).map((folder) => basename(folder))
  expect(folders.filter((folder) => folder !== 'kit' && !read('test/README.md').includes(`| \`${folder}\` |`))).toEqual(
    [],
  )
})

test('the rules are about something: types and declarations are found', () => {
  expect(exportedTypes('packages/sluice/src/core/call.ts')).toContain('Layer')
  expect(declared('packages/sluice/src/core/call.ts')).toContain('pipeline')
})
