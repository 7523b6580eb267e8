import { expect, test } from 'vitest'
import type { Params } from '../core/json.ts'
import type { VisibleNames } from './lists.ts'
import { createList, toCursor } from './lists.ts'

const names = ['a', 'b', 'c', 'd']
const make = (scopes: { [name: string]: string[] } = {}, pageSize = 10) =>
  createList({
    member: 'tools',
    items: names.map((name) => ({ name, entry: { name }, scopes: scopes[name] ?? [], listed: false })),
    pageSize,
    ttlMs: 0,
    serverMeta: {},
    project: (entry) => entry,
  })
const noScopes: ReadonlySet<string> = new Set()
const read = (list: ReturnType<typeof make>, only?: VisibleNames, cursor?: unknown): Params =>
  JSON.parse(list.page('2026-07-28', noScopes, cursor, only).json)
const shown = (page: Params): unknown[] => (page['tools'] as Params[]).map(({ name }) => name)

test('a tenant sees the tools it has, and of those the ones its scopes allow', () => {
  const list = make({ b: ['s'] })
  const only = new Set(['b', 'c', 'no such tool'])
  expect(shown(read(list, only))).toEqual(['c'])
  expect(list.visible(new Set(['s']), only).map(({ name }) => name)).toEqual(['b', 'c'])
})

test('a list that differs between tenants is private for each of them, on every page', () => {
  const list = make({}, 1)
  expect(read(list)['cacheScope']).toBe('public')
  const first = read(list, new Set(['a', 'b']))
  expect(first['cacheScope']).toBe('private')
  expect(read(list, new Set(['a', 'b']), first['nextCursor'])['cacheScope']).toBe('private')
  expect(read(list, 'all')['cacheScope']).toBe('private')
})

test('tenants with the same tools share prepared pages, and others do not', () => {
  const list = make()
  const page = (only: VisibleNames) => list.page('2026-07-28', noScopes, undefined, only)
  expect(page(new Set(['a', 'b']))).toBe(page(new Set(['b', 'a', 'gone'])))
  expect(page(new Set(['a']))).not.toBe(page(new Set(['b'])))
  expect(page('all')).not.toBe(page(undefined))
})

test('a cursor that points to a tool the tenant may not see is refused like an unknown one', () => {
  const list = make({}, 1)
  const ofA = read(list, new Set(['a', 'b']))['nextCursor']
  const problem = (cursor: unknown): unknown => {
    try {
      return read(list, new Set(['c', 'd']), cursor)
    } catch (thrown) {
      return thrown
    }
  }
  expect(problem(ofA)).toMatchObject({ reason: 'invalidParams' })
  expect(String(problem(ofA))).toBe(String(problem(toCursor('tools', 'no such tool'))))
})
