/** The path of one HTTP call, as AGENTS.md draws it: the files that run are the files that are named there. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const agents = readFileSync(`${root}AGENTS.md`, 'utf8')
const [, , drawing = '', helpers = ''] =
  /# The path of one HTTP call\n(.*?)```\n(.*?)```\n(.*?)\n\nOther paths/s.exec(agents) ?? []
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/[\w-]+(?:\/[\w-]+)*(?:\/\{[\w,-]+\})?\.ts/g)].flatMap(([path]) => {
    const group = /\{(.*)\}/.exec(path)
    return group?.[1] ? group[1].split(',').map((name) => path.replace(group[0], name)) : [path]
  })

/** The files of the library in which a function ran, during one call on a warm server. */
const ran = JSON.parse(
  execFileSync(process.execPath, [`${root}test/architecture/one-call.fixture.ts`], { encoding: 'utf8' }),
) as readonly string[]

/** Named in the drawing for what stands there with a plugin. */
const withPlugins: readonly string[] = ['approvals/approval-layer.ts']
const drawn = [...new Set(pathsIn(drawing))].filter((file) => !withPlugins.includes(file))

test('a call passes through the files of the drawing, and no other but the helpers named below it', () => {
  expect(drawn.filter((file) => !ran.includes(file))).toEqual([])
  const named = new Set([...drawn, ...pathsIn(helpers)])
  expect(ran.filter((file) => !named.has(file) && !file.startsWith('observe/'))).toEqual([])
})

test('the path has at most twenty files', () => {
  expect(drawn.length).toBeGreaterThan(10)
  expect(drawn.length).toBeLessThanOrEqual(20)
})

test('the picture of the pipeline shows all layers of AGENTS.md, in their order', () => {
  const [, listed = ''] = /All layers, in order: (.*?)\. /.exec(agents) ?? []
  const picture = readFileSync(`${root}docs/pictures/pipeline.svg`, 'utf8')
  const shown = [...picture.matchAll(/<text [^>]*rotate[^>]*>(.*?)<\/text>/g)].map(([, name]) => name)
  expect(shown).toEqual(listed.replaceAll('*', '').split(' → '))
})
