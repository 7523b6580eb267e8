import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder } from '../../../test/kit/generators/markdown-folder.ts'
import { isVisible, keyOf } from './article.ts'
import { openFolder } from './folder.ts'

const live = (title: string): string => `---\ntitle: ${title}\nlastUpdated: 2026-01-01\nstatus: Live\n---\nText.`

test('folders become collections and file names become slugs; other files are ignored', async () => {
  const folder = await aFolder({
    'top.md': '# Top',
    'concepts/a.md': live('A'),
    'guides/deploy/docker.markdown': '# Docker',
    'guides/picture.png': 'x',
    '.git/hidden.md': '# Hidden',
    'node_modules/x/readme.md': '# Foreign',
  })
  const { put, removed, problems } = await openFolder(folder)()
  expect(put.map(keyOf).sort()).toEqual(['articles/top', 'concepts/a', 'guides-deploy/docker'])
  expect([removed, problems]).toEqual([[], []])
})

test('links are not followed: nothing outside the folder is served', async () => {
  const outside = await aFolder({ 'secret.md': '# Secret' })
  const folder = await aFolder({ 'a.md': '# A' })
  await symlink(join(outside, 'secret.md'), join(folder, 'b.md'))
  await symlink(outside, join(folder, 'linked'))
  expect((await openFolder(folder)()).put.map(keyOf)).toEqual(['articles/a'])
})

test('an invalid file is reported with the reason, and the other files are read', async () => {
  const folder = await aFolder({
    'a.md': '# A',
    'bad.md': '---\ntitle: [\n---\n',
    'binary.md': new Uint8Array([0xff, 0xfe, 0x00]),
    'huge.md': 'x'.repeat(1024 * 1024 + 1),
    'x-y/twin.md': '# One',
    'x/y/twin.md': '# Two',
  })
  const { put, problems } = await openFolder(folder)()
  expect(put.map(keyOf).sort()).toEqual(['articles/a', 'x-y/twin'])
  expect(problems).toEqual([
    expect.stringMatching(/^bad\.md: front matter: /),
    'binary.md: not UTF-8',
    'huge.md: larger than 1048576 bytes',
    'x-y/twin.md: the key x-y/twin is already taken by another file; rename one of them',
  ])
})

test('a second read returns exactly what was added, changed, renamed and removed', async () => {
  const folder = await aFolder({
    'same.md': '# Same',
    'changed.md': '# Old',
    'moved.md': '# Moved',
    'gone.md': '# Gone',
  })
  const read = openFolder(folder)
  await read()
  expect(await read()).toEqual({ put: [], removed: [], problems: [], hidden: [] })
  await writeFile(join(folder, 'changed.md'), '# New')
  await writeFile(join(folder, 'added.md'), '# Added')
  await rename(join(folder, 'moved.md'), join(folder, 'there.md'))
  await rm(join(folder, 'gone.md'))
  const { put, removed } = await read()
  expect(put.map(({ slug, title }) => [slug, title])).toEqual([
    ['added', 'Added'],
    ['changed', 'New'],
    ['there', 'Moved'],
  ])
  expect(removed.toSorted()).toEqual(['articles/gone', 'articles/moved'])
})

test('an article that becomes invalid is removed until it is valid again', async () => {
  const folder = await aFolder({ 'a.md': live('A') })
  const read = openFolder(folder)
  await read()
  await writeFile(join(folder, 'a.md'), live('A').replace('Live', 'Lvie'))
  expect(await read()).toMatchObject({ removed: ['articles/a'], problems: [expect.stringMatching(/^a\.md: status: /)] })
  await writeFile(join(folder, 'a.md'), live('A again'))
  expect(await read()).toMatchObject({ put: [{ title: 'A again' }], problems: [] })
})

test('a file that an editor empties before writing is not an article in the meantime', async () => {
  const folder = await aFolder({ 'a.md': live('A').replace('Live', 'Draft') })
  const read = openFolder(folder)
  await read()
  await writeFile(join(folder, 'a.md'), '')
  expect(await read()).toEqual({ put: [], removed: ['articles/a'], problems: [], hidden: [] })
})

test('a folder that cannot be read is an error, not an empty folder', async () => {
  await expect(openFolder('/nowhere/at/all')()).rejects.toThrow('ENOENT')
})

test('one file with a status makes the whole folder strict, and removing it makes the folder lenient again', async () => {
  const folder = await aFolder({
    ...{ 'plain.md': '# Plain', 'dated.md': '---\ntitle: Dated\ndate: 2024-01-01\n---\n', 'a.md': live('A') },
    'draft.md': '---\ntitle: D\nlastUpdated: 2026-01-01\n---\n',
  })
  const read = openFolder(folder)
  const strict = await read()
  expect(strict.put.filter(isVisible).map(keyOf)).toEqual(['articles/a', 'articles/plain'])
  expect(strict.problems).toEqual([expect.stringMatching(/^dated\.md: lastUpdated: /)])
  expect(strict.hidden).toEqual(['draft.md: it has no status, but other files have one'])
  await rm(join(folder, 'a.md'))
  const lenient = await read()
  expect(lenient.put.filter(isVisible).map(keyOf)).toEqual(['articles/dated', 'articles/draft', 'articles/plain'])
  expect(lenient).toMatchObject({ removed: ['articles/a'], problems: [], hidden: [] })
})

test('a page with a separate folder is named by that folder, as Hugo and Docusaurus do', async () => {
  const folder = await aFolder({
    ...{
      'posts/hello/index.md': '# Hello',
      'posts/_index.md': '# Posts',
      'index.md': '# Home',
      'docs/intro.mdx': '# Intro',
    },
  })
  const { put } = await openFolder(folder)()
  expect(put.map(keyOf).sort()).toEqual(['articles/index', 'articles/posts', 'docs/intro', 'posts/hello'])
})
