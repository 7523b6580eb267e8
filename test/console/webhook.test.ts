/** A chat that is notified of tickets, and sends decisions back to the console's own port. */

import { createHmac } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { ConsoleFixture, ConsoleResponse } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture, send, signInAsOwner } from '../kit/servers/console.fixture.ts'

const key = 'a secret that the chat and the server share'
const path = 'hooks/approvals'

/** A console whose webhook deliveries are collected in `told`. */
async function openChat(): Promise<{ consoleFixture: ConsoleFixture; agent: string; told: string[] }> {
  const told: string[] = []
  const post = async (_: string, __: unknown, body: string): Promise<number> => {
    told.push(body)
    return 200
  }
  const consoleFixture = await openConsoleFixture({ webhook: { url: 'https://chat.example/', secret: key, post } })
  onTestFinished(() => consoleFixture.close())
  return { consoleFixture, told, agent: await consoleFixture.createAgentKey() }
}
const decisionOf = (data: object): string => JSON.stringify({ type: 'approval.decided', data })
function signed(consoleFixture: ConsoleFixture, body: string, secret: string = key): Record<string, string> {
  const seconds = String(Math.floor(consoleFixture.clock.now() / 1000))
  const mac = createHmac('sha256', secret).update(`msg_1.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` }
}
const deliver = (
  consoleFixture: ConsoleFixture,
  body: string,
  headers: Record<string, string> = signed(consoleFixture, body),
): Promise<ConsoleResponse> => send(consoleFixture.url, path, { method: 'POST', headers, body })

test('a ticket sent to the chat is decided by its reply, and the call runs', async () => {
  const { consoleFixture, agent, told } = await openChat()
  await consoleFixture.call(agent, 'refund', { order: 'from-chat' })
  await expect.poll(() => told.length, { timeout: 25_000 }).toBe(1)
  const { data } = JSON.parse(told[0] ?? '') as { data: { id: string; url: string } }
  expect(data.url).toBe(`${consoleFixture.url}approvals/${data.id}`)
  const yes = decisionOf({ id: data.id, approved: true, by: 'olga', note: 'fine' })
  expect(await deliver(consoleFixture, yes)).toMatchObject({ status: 200, body: { id: data.id, status: 'approved' } })
  expect(JSON.stringify(await consoleFixture.call(agent, 'refund', { order: 'from-chat' }))).toContain(
    'refunded from-chat',
  )
  // Sent again because the answer was lost, it is the same decision; a different one comes too late.
  expect(await deliver(consoleFixture, yes)).toMatchObject({ status: 200, body: { status: 'done' } })
  const no = decisionOf({ id: data.id, approved: false, by: 'olga' })
  expect(await deliver(consoleFixture, no)).toMatchObject({ status: 409, body: { reason: 'conflict' } })
  const page = await (await signInAsOwner(consoleFixture)).get(`api/tickets/${data.id}`)
  expect(page.body).toMatchObject({ status: 'done', decisions: [{ by: 'olga', via: 'webhook', note: 'fine' }] })
})

test("only the signature opens it: no cookie, no operator key, no agent's key", async () => {
  const { consoleFixture, agent } = await openChat()
  await consoleFixture.call(agent, 'refund', { order: 'forged' })
  const [ticket] = (await consoleFixture.approvals.list()).tickets
  const body = decisionOf({ id: ticket?.id, approved: true, by: 'olga' })
  const { secret } = await consoleFixture.consoleApp.operators.create({ name: 'olga', scopes: ['approvals:decide'] })
  const visitor = await signInAsOwner(consoleFixture)
  const refused: readonly Record<string, string>[] = [
    {},
    visitor.headers,
    { authorization: `Bearer ${secret}` },
    { authorization: `Bearer ${agent}` },
    signed(consoleFixture, body, agent),
    signed(consoleFixture, `${body} `),
  ]
  for (const headers of refused)
    expect(await deliver(consoleFixture, body, headers)).toMatchObject({
      status: 401,
      body: { reason: 'unauthorized' },
    })
  const good = signed(consoleFixture, body)
  expect((await deliver(consoleFixture, body, { ...good, origin: 'https://evil.example' })).status).toBe(403)
  expect((await deliver(consoleFixture, body, { ...good, host: 'evil.example' })).status).toBe(403)
  expect((await deliver(consoleFixture, body, { ...good, 'content-type': 'text/plain' })).status).toBe(415)
  expect((await send(consoleFixture.url, path, { headers: good })).status).toBe(405)
  expect((await deliver(consoleFixture, decisionOf({ note: 'x'.repeat(20_000) }))).status).toBe(413)
  expect((await deliver(consoleFixture, '{}')).status).toBe(400)
  expect(await consoleFixture.approvals.get(ticket?.id ?? '')).toMatchObject({ status: 'pending', decisions: [] })
})

test('guessing signatures is slowed down, and the chat itself is not', async () => {
  const { consoleFixture, agent } = await openChat()
  await consoleFixture.call(agent, 'refund', { order: 'guessed' })
  const [ticket] = (await consoleFixture.approvals.list()).tickets
  const body = decisionOf({ id: ticket?.id, approved: true, by: 'olga' })
  let status = 401
  for (let guesses = 0; guesses < 500 && status === 401; guesses++)
    status = (await deliver(consoleFixture, body, signed(consoleFixture, body, `guess ${guesses}`))).status
  expect(status).toBe(429)
  expect((await deliver(consoleFixture, body)).status).toBe(200)
})

test('without a webhook in the configuration the route does not exist', async () => {
  const consoleFixture = await openConsoleFixture()
  onTestFinished(() => consoleFixture.close())
  expect((await deliver(consoleFixture, decisionOf({ id: 'x', approved: true, by: 'olga' }))).status).toBe(404)
})
