/** Two issuers may both have an "alice": the work, requests and rights of one are not the other's. */

import { createHmac } from 'node:crypto'
import type { Verifier } from 'sluice'
import { apiKeys, authenticate, defineServer, memoryStore, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import type { JwtOptions } from 'sluice/jwt'
import { jwt } from 'sluice/jwt'
import { createServer } from 'sluice/node'
import { idempotency } from 'sluice/plugins'
import { expect, test } from 'vitest'
import { operator, requiredIn } from '../kit/servers/approvals.fixture.ts'

const secret = 'a secret of thirty-two characters'
const audience = 'https://mcp.example'
const [first, second] = ['https://first.example', 'https://second.example']

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function tokenOf(iss: string): string {
  const exp = Math.floor(Date.now() / 1000) + 3600
  const claims = { iss, aud: audience, sub: 'alice', email: 'alice@example.com', exp }
  const signed = `${encoded({ alg: 'HS256' })}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

const verifierOf = (issuer: string, more: Partial<JwtOptions> = {}) => jwt({ secret, issuer, audience, ...more })

function serving(verifiers: readonly Verifier[]) {
  let runs = 0
  const store = memoryStore()
  const desk = createApprovals({ store })
  const whoami = tool({ name: 'whoami', description: 'Tells', run: (_, { caller }) => caller.subject })
  const count = tool({ name: 'count', description: 'Counts', run: () => String(++runs) })
  const gated = tool({
    name: 'gated',
    description: 'Asks',
    approval: 'always',
    stateless: true,
    run: () => String(++runs),
  })
  const server = createServer(defineServer({ name: 'x', version: '1', tools: [whoami, count, gated] }), {
    store,
    use: [authenticate({ verifiers }), idempotency(), desk],
  })
  async function call(token: string, name: string, key?: string) {
    const header = (asked: string) => (asked === 'authorization' ? `Bearer ${token}` : undefined)
    const _meta = key === undefined ? {} : { 'dev.sluice/idempotencyKey': key }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta } }
    const answer = await server.handle(message, { via: { transport: 'http', peer: '', header } })
    return answer as { result: { content: readonly [{ text: string }] } }
  }
  const textOf = async (...asked: Parameters<typeof call>) => (await call(...asked)).result.content[0].text
  return { desk, call, textOf, runs: () => runs }
}

test('with one verifier a caller is its subject', async () => {
  const { textOf } = serving([verifierOf(first)])
  expect(await textOf(tokenOf(first), 'whoami')).toBe('alice')
})

test('with more than one a caller is issuer and subject, and a key is the subject it was made for', async () => {
  const keys = apiKeys(memoryStore())
  const made = await keys.create({ subject: 'alice' })
  const { textOf } = serving([verifierOf(first), verifierOf(second), keys])
  expect(await textOf(tokenOf(first), 'whoami')).toBe('https://first.example alice')
  expect(await textOf(tokenOf(second), 'whoami')).toBe('https://second.example alice')
  expect(await textOf(made.secret, 'whoami')).toBe('alice')
})

test('a recorded result is not returned to the other alice', async () => {
  const { textOf } = serving([verifierOf(first), verifierOf(second)])
  const key = crypto.randomUUID()
  expect(await textOf(tokenOf(first), 'count', key)).toBe('1')
  expect(await textOf(tokenOf(first), 'count', key)).toBe('1')
  expect(await textOf(tokenOf(second), 'count', key)).toBe('2')
})

test('an approval is not spent by the other alice', async () => {
  const { desk, call, textOf, runs } = serving([verifierOf(first), verifierOf(second)])
  const { request_id } = requiredIn(await call(tokenOf(first), 'gated'))
  await desk.decide(request_id, { approved: true }, operator)
  expect(requiredIn(await call(tokenOf(second), 'gated')).request_id).not.toBe(request_id)
  expect(runs()).toBe(0)
  expect(await textOf(tokenOf(first), 'gated')).toBe('1')
})

test.each([
  ['a claim by its name', 'email'],
  ['a function', ({ email }: { readonly email?: unknown }) => (typeof email === 'string' ? email : undefined)],
] as const)('with "subject" set to %s, callers have that name', async (_, subject) => {
  const { textOf } = serving([verifierOf(first, { subject }), verifierOf(second, { subject })])
  for (const issuer of [first, second]) expect(await textOf(tokenOf(issuer), 'whoami')).toBe('alice@example.com')
})

test('a token without the claim that names the caller is refused', async () => {
  const { call } = serving([verifierOf(first, { subject: 'nickname' })])
  expect(await call(tokenOf(first), 'whoami')).toMatchObject({ error: { data: { reason: 'unauthorized' } } })
})
