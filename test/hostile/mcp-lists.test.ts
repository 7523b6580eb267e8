/** Arguments that fail their schema, and lists that differ by caller. */

import type { Params, Server } from 'sluice'
import { testClient } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { callOf, modernRequest } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { createPagedServer } from '../kit/servers/paged-lists.fixture.ts'

const { server, runs } = createAttackedServer()

describe('arguments that fail the schema', () => {
  test.each([
    [{}],
    [{ count: 3 }],
    [{ count: '3', kind: 'a' }],
    [{ count: 0, kind: 'a' }],
    [{ count: 11, kind: 'a' }],
    [{ count: 1.5, kind: 'a' }],
    [{ count: 3, kind: 'c' }],
    [{ count: 3, kind: 'a', tags: 'x' }],
    [{ count: 3, kind: 'a', tags: ['1', '2', '3', '4'] }],
    [{ count: 3, kind: 'a', tags: ['too long'] }],
    [{ count: null, kind: null }],
    [{ count: [3], kind: ['a'] }],
    [{ Count: 3, Kind: 'a' }],
    [{ 'count\u0000': 3, kind: 'a' }],
  ])('%j: a tool error result, and nothing runs', async (args) => {
    for (const revision of ['2026-07-28', '2025-11-25', '2025-03-26', '2024-11-05'] as const) {
      const client = await testClient(server, { revision })
      const result = await client.call('strict', args)
      expect(result).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('Invalid params for strict') }],
      })
      client.close()
    }
    expect(runs.get('strict')).toBeUndefined()
  })

  test.each([null, 1, 'a', [], [1], true])(
    'arguments %j are not an object: refused, and nothing runs',
    async (args) => {
      const answer = await server.handle(modernRequest(1, 'tools/call', { name: 'strict', arguments: args }))
      expect(answer).toSatisfy(
        (said: { result?: { isError?: boolean }; error?: object }) =>
          said.error !== undefined || said.result?.isError === true,
      )
      expect(runs.get('strict')).toBeUndefined()
    },
  )

  test('a value with a million problems is refused with a few of them', async () => {
    const { server: own } = createPagedServer()
    const answer = await own.handle(callOf(1, 'many', { values: Array.from({ length: 100_000 }, () => 'x') }))
    expect(JSON.stringify(answer).length).toBeLessThan(10_000)
    expect(answer).toMatchObject({ result: { isError: true } })
  })
})

describe('cached lists', () => {
  const pages = async (server: Server, method: string): Promise<Params[]> => {
    const found: Params[] = []
    for (let cursor: unknown; ; ) {
      const { result } = (await server.handle(modernRequest(1, method, cursor === undefined ? {} : { cursor }))) as {
        result: Params
      }
      found.push(result)
      cursor = result['nextCursor']
      if (cursor === undefined) return found
    }
  }

  test.each(['tools/list', 'resources/list'])('%s that differs by caller is private, on every page', async (method) => {
    const found = await pages(createPagedServer().server, method)
    expect(found.length).toBeGreaterThan(2)
    for (const page of found) expect(page).toMatchObject({ cacheScope: 'private', ttlMs: 60_000 })
  })

  test('a list that is the same for all is public, on every page', async () => {
    const found = await pages(createPagedServer().server, 'resources/templates/list')
    for (const page of found) expect(page).toMatchObject({ cacheScope: 'public' })
  })

  test('what a caller may not see is on no page, in no refusal and behind no cursor', async () => {
    const { server } = createPagedServer()
    expect(JSON.stringify(await pages(server, 'tools/list'))).not.toMatch(/tool-[036]/)
    expect(JSON.stringify(await server.handle(callOf(1, 'nobody')))).not.toMatch(/tool-[036]/)
    const hidden = await server.handle(callOf(1, 'tool-0'))
    const unknown = await server.handle(callOf(1, 'tool-x'))
    const shape = (answer: unknown): string =>
      JSON.stringify(answer)
        .replaceAll(/tool-[0x]/g, 'NAME')
        .replace(/"reference":"[^"]+"/, '')
    expect(shape(hidden)).toBe(shape(unknown))
    const cursor = Buffer.from(encodeURIComponent(JSON.stringify(['tools', 'tool-0']))).toString('base64')
    expect(await server.handle(modernRequest(1, 'tools/list', { cursor }))).toMatchObject({ error: { code: -32602 } })
  })

  test('a cursor that is foreign, of another list, or re-encoded is refused', async () => {
    const { server } = createPagedServer()
    const [first] = await pages(server, 'tools/list')
    const cursor = String(first?.['nextCursor'])
    for (const wrong of [
      '',
      'x',
      '====',
      ` ${cursor}`,
      `${cursor}\n`,
      `${cursor.slice(0, 4)} ${cursor.slice(4)}`,
      cursor.slice(0, -1),
      [cursor],
      { cursor },
      1,
      null,
      true,
      'é',
    ])
      expect(
        await server.handle(modernRequest(1, 'tools/list', { cursor: wrong })),
        JSON.stringify(wrong),
      ).toMatchObject({ error: { code: -32602 } })
    expect(await server.handle(modernRequest(1, 'resources/templates/list', { cursor }))).toMatchObject({
      error: { code: -32602 },
    })
    expect(await server.handle(modernRequest(1, 'tools/list', { cursor }))).toHaveProperty('result')
  })

  test('a forged cursor is refused, and never passed to a listing', async () => {
    const { server } = createPagedServer()
    const forged = (list: string, place: string): string =>
      Buffer.from(encodeURIComponent(JSON.stringify([list, place]))).toString('base64')
    const places = [
      'x',
      'null',
      '1',
      '{}',
      '[]',
      '["mine://{x}"]',
      '["mine://{x}",1]',
      '["mine://{x}",{"a":1}]',
      '["mine://{x}",["a"]]',
      '["nobody://",null]',
      '[null,null]',
      '"mine://{x}"',
    ]
    for (const place of places)
      expect(
        await server.handle(modernRequest(1, 'resources/list', { cursor: forged('listed', place) })),
        place,
      ).toMatchObject({ error: { code: -32602 } })
    for (const place of ['constructor', '__proto__', 'note://9', ''])
      expect(
        await server.handle(modernRequest(1, 'resources/list', { cursor: forged('resources', place) })),
        place,
      ).toMatchObject({ error: { code: -32602 } })
  })
})
