/**
 * P01: what needs an approval does not run without one, through whichever entry its call comes. The ways in are those of
 * the isolation tests; the tables below are typed and checked so that a new entry, transport or door is a failure here
 * until somebody says how calls come through it.
 */

import type { Params, Server, Via } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import library from '../../packages/sluice/package.json' with { type: 'json' }
import type { Client, Ways } from '../hostile/isolation-ways.ts'
import { openWays } from '../hostile/isolation-ways.ts'
import type { Shop } from './shop.ts'
import { openShop, operator, requiredIn } from './shop.ts'

/** What a call comes in by, or that none does. */
type By = RegExp | 'brings no call in'

const entries: { readonly [entry in keyof typeof library.exports]: By } = {
  '.': /^handle/,
  './node': /^http/,
  './main': /^stdio/,
  './fetch': /^fetch/,
  './sse': /^http\+sse/,
  './websocket': /^websocket/,
  './websocket-edge': /^fetch, websocket/,
  './testing': /^handle/,
  './websocket-client': 'brings no call in',
  './client': 'brings no call in',
  './client-node': 'brings no call in',
  './client-oauth': 'brings no call in',
  './approvals': 'brings no call in',
  './console': 'brings no call in',
  './json-schema': 'brings no call in',
  './sqlite': 'brings no call in',
  './redis': 'brings no call in',
  './store-contract': 'brings no call in',
  './jwt': 'brings no call in',
  './tracing': 'brings no call in',
  './toon': 'brings no call in',
}
const transports: { readonly [transport in Via['transport']]: RegExp } = {
  memory: /^handle/,
  http: /^http/,
  stdio: /^stdio/,
  websocket: /^websocket/,
}
/** `text` is what every transport uses. */
const doors: { readonly [door in keyof Server]: By } = {
  handle: /^handle/,
  text: /^http/,
  refuse: 'brings no call in',
  attach: 'brings no call in',
  answerWithinMs: 'brings no call in',
  hear: 'brings no call in',
  listening: 'brings no call in',
  shared: 'brings no call in',
  update: 'brings no call in',
  listChanged: 'brings no call in',
  updated: 'brings no call in',
  logger: 'brings no call in',
  clock: 'brings no call in',
  authenticates: 'brings no call in',
  counts: 'brings no call in',
  admit: 'brings no call in',
  page: 'brings no call in',
  close: 'brings no call in',
  drain: 'brings no call in',
  finish: 'brings no call in',
  expose: 'brings no call in',
  ready: 'brings no call in',
}

let shop: Shop
let opened: Ways
let ann = ''
beforeAll(async () => {
  shop = await openShop({ maxPending: 1000 })
  ann = await shop.keyFor('ann', ['acme'])
  opened = await openWays(shop.server)
})
afterAll(() => opened.close())

test('every entry of the package, transport and door of a server is in a table, and has its way', async () => {
  expect(Object.keys(entries).sort()).toEqual(Object.keys(library.exports).sort())
  expect(Object.keys(doors).sort()).toEqual(Object.keys(shop.server).sort())
  const names = opened.ways.map(({ name }) => name)
  for (const by of [...Object.values(entries), ...Object.values(transports), ...Object.values(doors)])
    if (by !== 'brings no call in') expect(names.filter((name) => by.test(name))).not.toEqual([])
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])
    for (const transport of ['stdio', 'handle', 'websocket']) expect(names).toContain(`${transport}, ${revision}`)
})

/** Each in a call of its own, all at once, and each with something that somebody might believe. */
const attempts: readonly Params[] = [
  { name: 'pay', arguments: { amount: 1 } },
  { name: 'pay', arguments: { amount: 1 } },
  {
    name: 'pay',
    arguments: { amount: 2 },
    approved: true,
    inputResponses: { 'dev.sluice/approval': { action: 'accept' } },
  },
  {
    name: 'pay',
    arguments: { amount: 3 },
    _meta: { 'dev.sluice/idempotencyKey': 'a-key-that-is-long-enough', approved: true },
  },
  { name: 'refund', arguments: { amount: 4, approved: true } },
  {
    name: 'refund',
    arguments: { amount: 5, approved: true, approval_request_id: '3f0c7e0e-0000-4000-8000-000000000000' },
  },
  { name: 'count', arguments: {} },
  { name: 'price', arguments: { amount: 101 } },
]

describe('through every entry', () => {
  // The names are known before a server is: they are the same for all.
  test('nothing gated runs without an approval; approved, it runs once', async () => {
    for (const way of opened.ways) {
      const client: Client = await way.open(ann)
      shop.ran.length = 0
      let id = 0
      const make = (params: Params): Params => client.make(`${way.name} ${++id}`, 'tools/call', params)
      const answers = await client.heap(attempts.map(make))
      const again = await client.heap(attempts.map(make))
      expect(shop.ran, way.name).toEqual([])
      expect(answers, way.name).toHaveLength(attempts.length)
      for (const answer of [...answers, ...again]) if (!('error' in answer)) requiredIn(answer)
      // It is the gate that holds them, not a way that is broken.
      const [paid] = await client.heap([make({ name: 'pay', arguments: { amount: 1 } })])
      const { request_id } = requiredIn(paid ?? {})
      await shop.desk.decide(request_id, { approved: true }, operator)
      const runs = await client.heap([1, 2, 3, 4, 5].map(() => make({ name: 'pay', arguments: { amount: 1 } })))
      expect(shop.ran, way.name).toEqual([{ amount: 1, memo: 'none' }])
      expect(JSON.stringify(runs), way.name).toContain('Paid 1')
      client.close()
    }
  })
})
