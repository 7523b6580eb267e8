import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Params } from 'sluice'
import { apiKeys, memoryStore } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { openBank, webhookServer } from './approvals.ts'

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='

test("a transfer waits for a person; the chat is notified, and its user's decision lets it run once", async () => {
  const notified = Promise.withResolvers<{ data: { id: string; arguments: string } }>()
  const chat = createServer((request, response) => {
    text(request).then((body) => {
      response.end()
      notified.resolve(JSON.parse(body))
    }, notified.reject)
  })
  chat.listen(0, '127.0.0.1')
  await once(chat, 'listening')
  const store = memoryStore()
  const url = `http://127.0.0.1:${(chat.address() as AddressInfo).port}`
  const { server, approvals } = openBank(store, 'a secret that only this server has', { url, secret })
  const decisions = webhookServer(approvals).listen(0, '127.0.0.1')
  await once(decisions, 'listening')
  onTestFinished(async () => {
    chat.close()
    decisions.close()
    await server.close()
  })
  const { secret: token } = await apiKeys(store).create({ subject: 'ann', tenants: ['acme'] })
  const call = async (name: string, args: Params): Promise<string> => {
    const params = { name, arguments: args, token }
    const answer = await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    return JSON.stringify(answer)
  }
  expect(await call('balance', {})).toContain('Enough')
  expect(await call('transfer', { to: 'bob', amount: 100 })).toContain('Transferred 100 to bob')
  expect(await call('transfer', { to: 'bob', amount: 101 })).toContain('approval_required')

  const { data } = await notified.promise
  expect(data.arguments).toBe('{"amount":101,"to":"bob"}')
  const decide = async (by: string): Promise<Response> => {
    const body = JSON.stringify({ type: 'approval.decided', data: { id: data.id, approved: true, by } })
    const [id, seconds] = ['msg_1', String(Math.floor(Date.now() / 1000))]
    const key = Buffer.from(secret.slice(6), 'base64')
    const mac = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
    const headers = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` }
    return fetch(`http://127.0.0.1:${(decisions.address() as AddressInfo).port}`, { method: 'POST', headers, body })
  }
  expect(await (await decide('ann')).text()).toBe('forbidden')
  expect(await (await decide('olga')).json()).toEqual({ id: data.id, status: 'approved' })
  expect(await call('transfer', { to: 'bob', amount: 101 })).toContain('Transferred 101 to bob')
  expect(await approvals.get(data.id)).toMatchObject({ status: 'done', decisions: [{ by: 'olga', via: 'webhook' }] })
})
