/** A chat that is notified of tickets, and sends decisions back to the console's own port. */

import { createHmac } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { ConsoleFixture, ConsoleResponse } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture, send, signInAsOwner } from '../kit/servers/console.fixture.ts'

const key = 'a secret that the chat and the server share'
const path = 'hooks/approvals'

/** A console whose webhook deliveries are collected in `told`. */
async function openChat(): Promise<{ house: ConsoleFixture; agent: string; told: string[] }> {
  const told: string[] = []
  const post = async (_: string, __: unknown, body: string): Promise<number> => {
    told.push(body)
    return 200
  }
  const house = await openConsoleFixture({ webhook: { url: 'https://chat.example/', secret: key, post } })
  onTestFinished(() => house.close())
  return { house, told, agent: await house.createAgentKey() }
}
const decisionOf = (data: object): string => JSON.stringify({ type: 'approval.decided', data })
function signed(house: ConsoleFixture, body: string, secret: string = key): Record<string, string> {
  const seconds = String(Math.floor(house.clock.now() / 1000))
  const mac = createHmac('sha256', secret).update(`msg_1.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` }
}
const deliver = (
  house: ConsoleFixture,
  body: string,
  headers: Record<string, string> = signed(house, body),
): Promise<ConsoleResponse> => send(house.url, path, { method: 'POST', headers, body })

test('a ticket sent to the chat is decided by its reply, and the call runs', async () => {
  const { house, agent, told } = await openChat()
  await house.call(agent, 'refund', { order: 'from-chat' })
  await expect.poll(() => told.length, { timeout: 25_000 }).toBe(1)
  const { data } = JSON.parse(told[0] ?? '') as { data: { id: string; url: string } }
  expect(data.url).toBe(`${house.url}approvals/${data.id}`)
  const yes = decisionOf({ id: data.id, approved: true, by: 'olga', note: 'fine' })
  expect(await deliver(house, yes)).toMatchObject({ status: 200, body: { id: data.id, status: 'approved' } })
  expect(JSON.stringify(await house.call(agent, 'refund', { order: 'from-chat' }))).toContain('refunded from-chat')
  // Sent again because the answer was lost, it is the same decision; a different one comes too late.
  expect(await deliver(house, yes)).toMatchObject({ status: 200, body: { status: 'done' } })
  const no = decisionOf({ id: data.id, approved: false, by: 'olga' })
  expect(await deliver(house, no)).toMatchObject({ status: 409, body: { reason: 'conflict' } })
  const page = await (await signInAsOwner(house)).get(`api/tickets/${data.id}`)
  expect(page.body).toMatchObject({ status: 'done', decisions: [{ by: 'olga', via: 'webhook', note: 'fine' }] })
})

test("only the signature opens it: no cookie, no operator key, no agent's key", async () => {
  const { house, agent } = await openChat()
  await house.call(agent, 'refund', { order: 'forged' })
  const [ticket] = (await house.approvals.list()).tickets
  const body = decisionOf({ id: ticket?.id, approved: true, by: 'olga' })
  const { secret } = await house.consoleApp.operators.create({ name: 'olga', scopes: ['approvals:decide'] })
  const visitor = await signInAsOwner(house)
  const refused: readonly Record<string, string>[] = [
    {},
    visitor.headers,
    { authorization: `Bearer ${secret}` },
    { authorization: `Bearer ${agent}` },
    signed(house, body, agent),
    signed(house, `${body} `),
  ]
  for (const headers of refused)
    expect(await deliver(house, body, headers)).toMatchObject({ status: 401, body: { reason: 'unauthorized' } })
  const good = signed(house, body)
  expect((await deliver(house, body, { ...good, origin: 'https://evil.example' })).status).toBe(403)
  expect((await deliver(house, body, { ...good, host: 'evil.example' })).status).toBe(403)
  expect((await deliver(house, body, { ...good, 'content-type': 'text/plain' })).status).toBe(415)
  expect((await send(house.url, path, { headers: good })).status).toBe(405)
  expect((await deliver(house, decisionOf({ note: 'x'.repeat(20_000) }))).status).toBe(413)
  expect((await deliver(house, '{}')).status).toBe(400)
  expect(await house.approvals.get(ticket?.id ?? '')).toMatchObject({ status: 'pending', decisions: [] })
})

test('guessing signatures is slowed down, and the chat itself is not', async () => {
  const { house, agent } = await openChat()
  await house.call(agent, 'refund', { order: 'guessed' })
  const [ticket] = (await house.approvals.list()).tickets
  const body = decisionOf({ id: ticket?.id, approved: true, by: 'olga' })
  let status = 401
  for (let guesses = 0; guesses < 500 && status === 401; guesses++)
    status = (await deliver(house, body, signed(house, body, `guess ${guesses}`))).status
  expect(status).toBe(429)
  expect((await deliver(house, body)).status).toBe(200)
})

test('without a webhook in the configuration the route does not exist', async () => {
  const house = await openConsoleFixture()
  onTestFinished(() => house.close())
  expect((await deliver(house, decisionOf({ id: 'x', approved: true, by: 'olga' }))).status).toBe(404)
})
