/** The event stream of an open page. */

import { get } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ConsoleFixture } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture, send, signIn, signInAsOwner } from '../kit/servers/console.fixture.ts'

let fixture: ConsoleFixture
beforeAll(async () => {
  fixture = await openConsoleFixture()
})
afterAll(() => fixture.close())

interface Stream {
  readonly status: number
  text(): string
  /** The data of all events of this name so far. */
  events(name: string): readonly Record<string, unknown>[]
  readonly ended: Promise<void>
  close(): void
}

function listen(path: string, headers: Record<string, string>): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asked = get(new URL(path, fixture.url), { headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      const ended = new Promise<void>((over) => response.on('close', over))
      resolve({
        status: response.statusCode ?? 0,
        text: () => text,
        events: (name) =>
          [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)]
            .filter(([, each]) => each === name)
            .map(([, , data = '']) => JSON.parse(data)),
        ended,
        close: () => {
          asked.destroy()
        },
      })
    })
    asked.on('error', reject)
  })
}
const poll = { timeout: 60_000 }
/** A page is updated twice a second; a machine may stall for longer. */
vi.setConfig({ testTimeout: 180_000 })

test('the number of waiting tickets comes at once, and again when one is proposed or decided', async () => {
  const visitor = await signInAsOwner(fixture)
  const stream = await listen('api/events', { cookie: visitor.cookie })
  await expect.poll(() => stream.events('tickets'), poll).toEqual([{ pending: 0 }])
  const agent = await fixture.createAgentKey()
  await fixture.call(agent, 'refund', { order: 'F-1' })
  await expect.poll(() => stream.events('tickets').at(-1), poll).toEqual({ pending: 1 })
  const [ticket] = (await fixture.approvals.list({ status: 'pending' })).tickets
  await visitor.post(`api/tickets/${ticket?.id}/decision`, { approved: false, digest: ticket?.digest })
  await expect.poll(() => stream.events('tickets').at(-1), poll).toEqual({ pending: 0 })
  await fixture.call(agent, 'refund', { order: 'F-2' })
  await expect.poll(() => stream.events('tickets').at(-1), poll).toEqual({ pending: 1 })
  // The ticket expires undecided.
  fixture.clock.advance(10 * 60_000 + 1)
  await expect.poll(() => stream.events('tickets').at(-1), poll).toEqual({ pending: 0 })
  expect(stream.text()).not.toContain('event: requests')
  stream.close()
})

test('requests and statistics come to subscribers, filtered, one screenful at a time', async () => {
  const visitor = await signInAsOwner(fixture)
  const stream = await listen('api/events?live=1&tool=price', { cookie: visitor.cookie })
  const agent = await fixture.createAgentKey()
  await Promise.all(Array.from({ length: 300 }, () => fixture.call(agent, 'price', { article: 'x' })))
  await fixture.call(agent, 'break', {})
  const seen = (): readonly number[] =>
    stream.events('requests').map(({ requests, missed }) => (requests as unknown[]).length + Number(missed))
  await expect.poll(() => seen().reduce((sum, each) => sum + each, 0), poll).toBe(300)
  for (const { requests } of stream.events('requests')) expect((requests as unknown[]).length).toBeLessThanOrEqual(20)
  expect(stream.text()).not.toContain('"tool":"break"')
  await expect
    .poll(() => stream.events('second').reduce((sum, { second }) => sum + (second as { calls: number }).calls, 0), poll)
    .toBe(300)
  stream.close()
})

test('an operator of one tenant receives events of that tenant only', async () => {
  const { secret } = await fixture.consoleApp.operators.create({ name: 'olga', tenants: ['acme'] })
  const olga = await signIn(fixture, { key: secret })
  const stream = await listen('api/events?live=1', { cookie: olga.cookie })
  await fixture.call(await fixture.createAgentKey('spy', ['other']), 'price', { article: 'x' })
  await fixture.call(await fixture.createAgentKey('mine', ['acme']), 'price', { article: 'x' })
  await expect.poll(() => stream.text(), poll).toContain('"mine"')
  expect(stream.text()).not.toMatch(/"spy"|"other"/)
  stream.close()
})

test('a stream is not opened with an unknown filter, nor without a credential', async () => {
  const visitor = await signInAsOwner(fixture)
  expect(
    (await send(fixture.url, 'api/events?live=1&colour=red', { headers: { cookie: visitor.cookie } })).status,
  ).toBe(400)
  expect((await send(fixture.url, 'api/events')).status).toBe(401)
})

test('a stream ends when its credential is revoked', async () => {
  const { secret, key } = await fixture.consoleApp.operators.create({ name: 'leaver' })
  const stream = await listen('api/events', { authorization: `Bearer ${secret}` })
  await expect.poll(() => stream.text(), poll).toContain('event: tickets')
  await fixture.consoleApp.operators.revoke(key.id)
  await stream.ended
  expect(stream.text()).toContain('event: over')
})
