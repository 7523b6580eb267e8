/** Webhooks to and from another program, over real HTTP. */

import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Params } from 'sluice'
import { memoryStore } from 'sluice'
import type { WebhookPost } from 'sluice/approvals'
import type { FakeClock } from 'sluice/testing'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openApprovalsFixture, operator, requiredIn } from '../kit/servers/approvals.fixture.ts'

const start = 1_700_000_000_000
const key = Buffer.from('a key of thirty-two bytes, really')
const secret = `whsec_${key.toString('base64')}`

interface Received {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
}
/** A chat that answers with these statuses in turn, and then with 200. */
async function openChat(
  statuses: number[] = [],
): Promise<{ url: string; heard: Received[]; next(count: number): Promise<void> }> {
  const heard: Received[] = []
  const waiting = new Set<() => void>()
  const server = createHttpServer((request, response) => {
    text(request).then((body) => {
      heard.push({ headers: request.headers as Received['headers'], body })
      response.writeHead(statuses.shift() ?? 200, { location: 'http://127.0.0.1:9/elsewhere' }).end()
      for (const look of waiting) look()
    }, expect.unreachable)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    heard,
    next: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (heard.length >= count) resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

const signed = (body: string, { at = start, id = 'msg_1', with: by = key } = {}): Params => {
  const seconds = String(Math.floor(at / 1000))
  const mac = createHmac('sha256', by).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` }
}
const headerIn =
  (headers: Params) =>
  (name: string): string | undefined =>
    headers[name] as string | undefined
const decided = (data: Params): string => JSON.stringify({ type: 'approval.decided', data })

/** A chat in this process that answers with these statuses and then with 200, and the times of its requests. */
function chatIn(clock: FakeClock, statuses: number[]): { post: WebhookPost; told: { at: number; body: string }[] } {
  const told: { at: number; body: string }[] = []
  return {
    told,
    async post(_, __, body) {
      told.push({ at: clock.now(), body })
      return statuses.shift() ?? 200
    },
  }
}
/** Advances a second at a time, as long as necessary, because signing is real work. */
const untilTold = (clock: FakeClock, told: readonly unknown[], count: number): Promise<void> =>
  vi.waitFor(
    async () => {
      await clock.advance(1_000)
      if (told.length < count) throw new Error('not yet')
    },
    { timeout: 25_000, interval: 2 },
  )

test('a new ticket is sent, complete, and signed as in Standard Webhooks', async () => {
  const chat = await openChat()
  const { call, clock, approvals } = await openApprovalsFixture({
    url: 'https://console.example',
    webhook: { url: chat.url, secret },
  })
  const { request_id } = requiredIn(await call('pay', { amount: 5, to: 'bob' }))
  await clock.advance(0)
  await chat.next(1)
  const [{ headers, body } = { headers: {}, body: '' }] = chat.heard
  expect(JSON.parse(body)).toMatchObject({
    type: 'approval.requested',
    data: {
      id: request_id,
      tool: 'pay',
      arguments: '{"amount":5,"to":"bob"}',
      url: `https://console.example/approvals/${request_id}`,
    },
  })
  const expected = createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
  expect(headers['webhook-signature']).toBe(`v1,${expected.digest('base64')}`)
  expect(headers['webhook-id']).toBe(request_id)
  expect(await approvals.get(request_id)).toMatchObject({ status: 'pending' })
})

test('it is sent again until it is accepted, less and less often, and then no more', async () => {
  const clock = fakeClock(start)
  const { post, told } = chatIn(clock, [500, 302])
  const { call, store } = await openApprovalsFixture(
    { webhook: { url: 'https://chat.example/', secret, post } },
    { clock },
  )
  requiredIn(await call('pay', { amount: 5 }))
  await untilTold(clock, told, 3)
  const [, second = 0, third = 0] = told.map(({ at }) => at - start)
  expect(second).toBeGreaterThanOrEqual(5_000)
  expect(third).toBeGreaterThanOrEqual(15_000)
  await vi.waitFor(async () => expect(await store.list(['approvals', 'outbox'], { limit: 9 })).toEqual([]), {
    timeout: 25_000,
  })
  await clock.advance(3_600_000)
  expect(told).toHaveLength(3)
})

test('a process that dies before the delivery leaves it to the next one', async () => {
  const clock = fakeClock(start)
  const store = memoryStore(clock)
  const webhook = { url: 'https://chat.example/', secret }
  const began = Promise.withResolvers<void>()
  const dies: WebhookPost = () => {
    began.resolve()
    return new Promise(() => {})
  }
  const dying = await openApprovalsFixture({ webhook: { ...webhook, post: dies } }, { store, clock })
  requiredIn(await dying.call('pay', { amount: 5 }))
  await clock.advance(0)
  await began.promise
  await dying.server.close()
  const { post, told } = chatIn(clock, [])
  const next = await openApprovalsFixture({ webhook: { ...webhook, post } }, { store, clock })
  await next.server.ready()
  await untilTold(clock, told, 1)
  expect(told[0]?.body).toContain('\\"amount\\":5')
})

test('a ticket that was decided in the meantime is not sent any more', async () => {
  const clock = fakeClock(start)
  const { post, told } = chatIn(clock, [500])
  const webhook = { url: 'https://chat.example/', secret, post }
  const { call, approvals, store } = await openApprovalsFixture({ webhook }, { clock })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  await untilTold(clock, told, 1)
  await approvals.decide(request_id, { approved: false }, operator)
  await vi.waitFor(
    async () => {
      await clock.advance(1_000)
      expect(await store.list(['approvals', 'outbox'], { limit: 9 })).toEqual([])
    },
    { timeout: 25_000, interval: 2 },
  )
  expect(told).toHaveLength(1)
})

test('a decision comes back signed, and counts as that of the person who made it', async () => {
  const { call, approvals, ran } = await openApprovalsFixture({
    approver: 'other',
    webhook: { url: 'https://chat.example/', secret },
  })
  const { request_id: id } = requiredIn(await call('pay', { amount: 5 }))
  const self = decided({ id, approved: true, by: 'ann' })
  await expect(approvals.handleWebhook(headerIn(signed(self)), self)).rejects.toMatchObject({ reason: 'forbidden' })
  const body = decided({ id, approved: true, by: 'olga', note: 'ok from chat' })
  expect(await approvals.handleWebhook(headerIn(signed(body)), body)).toMatchObject({
    status: 'approved',
    decisions: [{ by: 'olga', via: 'webhook', note: 'ok from chat' }],
  })
  await call('pay', { amount: 5 })
  expect(ran).toHaveLength(1)
})

test('a decision that is forged, old, changed or of another kind decides nothing', async () => {
  const { call, approvals } = await openApprovalsFixture({
    webhook: { url: 'https://chat.example/', secret: [secret, `${secret}old`] },
  })
  const { request_id: id } = requiredIn(await call('pay', { amount: 5 }))
  const body = decided({ id, approved: true, by: 'olga' })
  const good = signed(body)
  const bad: readonly (readonly [Params, string])[] = [
    [{}, body],
    [{ ...good, 'webhook-signature': 'v1,AAAA' }, body],
    [{ ...good, 'webhook-signature': `v1a,${String(good['webhook-signature']).slice(3)}` }, body],
    [{ ...good, 'webhook-signature': 'v1,***' }, body],
    [{ ...good, 'webhook-id': 'msg_2' }, body],
    [{ ...good, 'webhook-timestamp': String(start / 1000 + 1) }, body],
    [{ ...good, 'webhook-timestamp': '-1' }, body],
    [good, body.replace('true', 'false')],
    [good, `${body} `],
    [signed(body, { at: start - 301_000 }), body],
    [signed(body, { at: start + 301_000 }), body],
    [signed(body, { with: Buffer.from('another key, also long enough...') }), body],
  ]
  for (const [headers, sent] of bad)
    await expect(approvals.handleWebhook(headerIn(headers), sent)).rejects.toMatchObject({ reason: 'unauthorized' })
  for (const said of [
    '{',
    '[]',
    JSON.stringify({ type: 'approval.requested', data: { id, approved: true, by: 'olga' } }),
    decided({ id, approved: 'true', by: 'olga' }),
    decided({ id, approved: true }),
    decided({ approved: true, by: 'olga' }),
  ])
    await expect(approvals.handleWebhook(headerIn(signed(said)), said)).rejects.toMatchObject({
      reason: 'invalidParams',
    })
  const unknown = decided({ id: 'x', approved: true, by: 'olga' })
  await expect(approvals.handleWebhook(headerIn(signed(unknown)), unknown)).rejects.toMatchObject({
    reason: 'approvalInvalid',
  })
  expect(await approvals.get(id)).toMatchObject({ status: 'pending' })
})

test('an unencrypted address or a weak secret does not start', async () => {
  for (const webhook of [
    { url: 'http://chat.example/', secret },
    { url: 'ftp://127.0.0.1/', secret },
    { url: 'https://chat.example/', secret: 'short' },
    { url: 'https://chat.example/', secret: [] },
  ])
    await expect(openApprovalsFixture({ webhook })).rejects.toThrow(/webhook/)
  const { approvals } = await openApprovalsFixture()
  await expect(approvals.handleWebhook(() => undefined, '{}')).rejects.toMatchObject({ reason: 'forbidden' })
})
