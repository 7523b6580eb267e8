/** Lists one page at a time, in every revision: nothing twice, nothing lost. */

import type { Server } from 'sluice'
import { defineServer, prompt, resource, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Params, ProtocolClient } from '../kit/clients/protocol.client.ts'
import {
  callTool,
  errorOf,
  listAt,
  matrix,
  modern,
  openProtocolClient,
  resultOf,
} from '../kit/clients/protocol.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

const lists = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const

/** Eleven of everything, three on a page. */
const numbered = (): Server => {
  const numbers = Array.from({ length: 11 }, (_, index) => `n${index}`)
  return createServer(
    defineServer({
      name: 'numbered',
      version: '1',
      tools: numbers.map((name) => tool({ name, description: name, run: () => name })),
      prompts: numbers.map((name) => prompt({ name, description: name, run: () => name })),
      resources: numbers.flatMap((name) => [
        resource({ uri: `n:${name}`, name, read: () => name }),
        resource({ uri: `t:${name}/{x}`, name, read: () => name }),
      ]),
    }),
    { pageSize: 3 },
  )
}

async function pagesOf(wire: ProtocolClient, method: string): Promise<readonly Params[]> {
  const pages: Params[] = []
  let cursor: unknown
  do {
    const page = resultOf(await wire.send(method, cursor === undefined ? {} : { cursor }))
    pages.push(page)
    cursor = page['nextCursor']
  } while (cursor !== undefined)
  return pages
}

describe.each(matrix)('$revision over $transport', ({ transport, revision }) => {
  const wired = async (server: Server): Promise<ProtocolClient> => {
    const wire = await openProtocolClient(transport, revision, { server })
    onTestFinished(() => wire.close())
    return wire
  }
  test.each(lists)('%s comes in pages of three, in order', async (method, member) => {
    const wire = await wired(numbered())
    const pages = await pagesOf(wire, method)
    expect(pages.map((page) => listAt(page, member).length)).toEqual([3, 3, 3, 2])
    expect(pages.flatMap((page) => listAt(page, member).map(({ name }) => name))).toEqual(
      Array.from({ length: 11 }, (_, index) => `n${index}`),
    )
    for (const page of pages.slice(0, -1)) expect(page['nextCursor']).toEqual(expect.any(String))
    // All pages of one list may be cached alike.
    expect(new Set(pages.map((page) => page['cacheScope']))).toEqual(
      new Set([revision === modern ? 'public' : undefined]),
    )
    expect(await pagesOf(wire, method)).toEqual(pages)
  })
  test('a foreign cursor, or one of another list, is refused', async () => {
    const wire = await wired(numbered())
    const ours = resultOf(await wire.send('tools/list'))['nextCursor']
    for (const [method] of lists)
      for (const cursor of [
        '',
        'x',
        '%%%',
        7,
        null,
        btoa('["tools","nothing"]'),
        ...(method === 'tools/list' ? [] : [ours]),
      ])
        expect([method, cursor, errorOf(await wire.send(method, { cursor }))['code']]).toEqual([method, cursor, -32602])
  })
  test('the resources of templates come on the pages after the fixed ones', async () => {
    const wire = await wired(createEverything())
    const pages = await pagesOf(wire, 'resources/list')
    expect(pages.map((page) => listAt(page, 'resources').map(({ uri }) => uri))).toEqual([
      ['note://text', 'note://bytes', 'note://gone', 'note://watched'],
      ['note://locked', 'note://2026/hello', 'note://2026/help', 'note://2026/world'],
    ])
    expect(new Set(pages.map((page) => page['cacheScope']))).toEqual(
      new Set([revision === modern ? 'private' : undefined]),
    )
  })
  test('a list that changes between two pages continues at its position', async () => {
    const wire = await wired(createEverything())
    const { nextCursor: cursor } = resultOf(await wire.send('tools/list'))
    await callTool(wire, 'change', { list: 'tools' })
    expect(listAt(resultOf(await wire.send('tools/list', { cursor })), 'tools')[0]).toMatchObject({
      name: 'broken_promise',
    })
    const all = (await pagesOf(wire, 'tools/list')).flatMap((page) => listAt(page, 'tools'))
    expect(all.at(-1)).toMatchObject({ name: 'passing' })
  })
})
