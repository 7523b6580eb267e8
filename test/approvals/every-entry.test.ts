/**
 * P01: a gated call does not run without an approval, through whichever entry point it arrives. The entry points are
 * those of the isolation tests. The tables below are typed and checked, so that a new entry, transport or method fails
 * here until it has a row.
 */

import type { Params, Via } from 'sluice'
import type { TransportServer } from 'sluice/extend'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import library from '../../packages/sluice/package.json' with { type: 'json' }
import type { EveryTransport, TransportClient } from '../kit/clients/every-transport.client.ts'
import { openEveryTransport } from '../kit/clients/every-transport.client.ts'
import type { ApprovalsFixture } from '../kit/servers/approvals.fixture.ts'
import { openApprovalsFixture, operator, requiredIn } from '../kit/servers/approvals.fixture.ts'

/** How a call arrives, or that none does. */
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
  './plugins': 'brings no call in',
  './audit': 'brings no call in',
  './extend': /^handle/,
  './websocket-client': 'brings no call in',
  './client': 'brings no call in',
  './client-node': 'brings no call in',
  './client-oauth': 'brings no call in',
  './gateway': 'brings no call in',
  './gateway-node': 'brings no call in',
  './gateway-auth': 'brings no call in',
  './approvals': 'brings no call in',
  './apps': 'brings no call in',
  './card': 'brings no call in',
  './skills': 'brings no call in',
  './skills-node': 'brings no call in',
  './json-schema': 'brings no call in',
  './sqlite': 'brings no call in',
  './postgres': 'brings no call in',
  './redis': 'brings no call in',
  './store-contract': 'brings no call in',
  './jwt': 'brings no call in',
  './tracing': 'brings no call in',
  './toon': 'brings no call in',
  './internal': 'brings no call in',
}
const transports: { readonly [transport in Via['transport']]: RegExp } = {
  memory: /^handle/,
  http: /^http/,
  stdio: /^stdio/,
  websocket: /^websocket/,
}
/** Every transport uses `handleText`. */
const members: { readonly [member in keyof TransportServer]: By } = {
  handle: /^handle/,
  handleText: /^http/,
  reject: 'brings no call in',
  attach: 'brings no call in',
  answerWithinMs: 'brings no call in',
  subscribe: 'brings no call in',
  eventsReady: 'brings no call in',
  shared: 'brings no call in',
  update: 'brings no call in',
  listChanged: 'brings no call in',
  resourceUpdated: 'brings no call in',
  flush: 'brings no call in',
  logger: 'brings no call in',
  clock: 'brings no call in',
  authenticates: 'brings no call in',
  exposes: 'brings no call in',
  gauges: 'brings no call in',
  authorizeConnection: 'brings no call in',
  page: 'brings no call in',
  close: 'brings no call in',
  drain: 'brings no call in',
  shutDown: 'brings no call in',
  assertSafeToExpose: 'brings no call in',
  ready: 'brings no call in',
  definitionsReady: 'brings no call in',
}

let shop: ApprovalsFixture
let opened: EveryTransport
let ann = ''
beforeAll(async () => {
  shop = await openApprovalsFixture({ maxPending: 1000 })
  ann = await shop.keyFor('ann', ['acme'])
  opened = await openEveryTransport(shop.server)
})
afterAll(() => opened.close())

test('every package entry, transport and server method is in a table, and has its path', async () => {
  expect(Object.keys(entries).sort()).toEqual(Object.keys(library.exports).sort())
  expect(Object.keys(members).sort()).toEqual(Object.keys(shop.server).sort())
  const names = opened.clients.map(({ name }) => name)
  for (const by of [...Object.values(entries), ...Object.values(transports), ...Object.values(members)])
    if (by !== 'brings no call in') expect(names.filter((name) => by.test(name))).not.toEqual([])
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])
    for (const transport of ['stdio', 'handle', 'websocket']) expect(names).toContain(`${transport}, ${revision}`)
})

/** Each in a separate call, all at once, and each with an argument that a weak check might accept. */
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

describe('through every entry point', () => {
  // The names are known before the server, because they are the same for all.
  test('nothing gated runs without an approval; approved, it runs once', async () => {
    for (const way of opened.clients) {
      const client: TransportClient = await way.open(ann)
      shop.ran.length = 0
      let id = 0
      const make = (params: Params): Params => client.toRequest(`${way.name} ${++id}`, 'tools/call', params)
      const answers = await client.sendAll(attempts.map(make))
      const again = await client.sendAll(attempts.map(make))
      expect(shop.ran, way.name).toEqual([])
      expect(answers, way.name).toHaveLength(attempts.length)
      for (const answer of [...answers, ...again]) if (!('error' in answer)) requiredIn(answer)
      // The approval layer stops them, not a broken transport.
      const [paid] = await client.sendAll([make({ name: 'pay', arguments: { amount: 1 } })])
      const { request_id } = requiredIn(paid ?? {})
      await shop.approvals.decide(request_id, { approved: true }, operator)
      const runs = await client.sendAll([1, 2, 3, 4, 5].map(() => make({ name: 'pay', arguments: { amount: 1 } })))
      expect(shop.ran, way.name).toEqual([{ amount: 1, memo: 'none' }])
      expect(JSON.stringify(runs), way.name).toContain('Paid 1')
      client.close()
    }
  })
})
