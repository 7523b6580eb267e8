/**
 * Questions of an upstream during calls that needed an approval: declined, unless the operator relays them. Then they
 * are on the ticket and in the audit.
 */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Store } from 'sluice'
import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createAudit, readAllAudit } from 'sluice/audit'
import type { UpstreamRule } from 'sluice/gateway-node'
import { upstream } from 'sluice/gateway-node'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Revision } from './kit.ts'
import { clientOf, eras, servedAlone, token, withTokens } from './kit.ts'
import type { Members } from './raw-upstream.ts'

const owner = { subject: 'ann', credential: 'console', via: 'console', tenants: ['acme'], operator: false } as const

/** Starts an upstream of the official SDK that asks in the middle of its tools. */
async function startAsking(version: 'v1' | 'v2'): Promise<string> {
  const program = join(import.meta.dirname, 'upstreams', `asking-${version}.fixture.ts`)
  const child = spawn(process.execPath, [program, 'http'], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => {
    child.kill()
  })
  return new Promise((resolve) => createInterface(child.stdout).once('line', resolve))
}

/** Calls a tool of the upstream, approves the call, and repeats it. */
async function approvedCall(
  version: 'v1' | 'v2',
  revision: Revision,
  rule: UpstreamRule,
): Promise<{
  readonly id: string
  readonly text: unknown
  readonly asked: number
  readonly effect: unknown
  readonly questions: unknown
  readonly records: readonly Members[]
}> {
  const url = await startAsking(version)
  const store = memoryStore()
  const audit = createAudit({ store })
  const approvals = createApprovals({ store, audit })
  const asking = upstream({ name: 'asking', url, allowHosts: ['127.0.0.1'], rules: [{ approval: 'always', ...rule }] })
  const served = await servedAlone(asking, { store, use: [...withTokens, approvals, audit] })
  let asked = 0
  const handlers = {
    form: () => {
      asked++
      return { action: 'accept', content: { name: 'Ada' } }
    },
  }
  const client = await clientOf(served.url, { revision, handlers }, token('acme.ann'))
  const { _meta } = await client.callTool('form', { tag: 'one' })
  const id = String(((_meta as Members)['dev.sluice/approval'] as Members)['request_id'])
  const effect = (await approvals.get(id))?.effect
  await approvals.decide(id, { approved: true }, owner)
  const { content } = await client.callTool('form', { tag: 'one' })
  const questions = (await approvals.get(id))?.questions
  await audit.flush()
  const records = [...(await recordsOf(store, 'questionAsked')), ...(await recordsOf(store, 'questionAnswered'))]
  return { ...{ id, text: (content as Members[])[0]?.['text'], asked, effect, questions, records } }
}

/** Returns the records of one kind in the audit. */
async function recordsOf(store: Store, kind: string): Promise<readonly Members[]> {
  const found: Members[] = []
  for await (const { record } of readAllAudit(store, 'acme')) if (record['kind'] === kind) found.push(record)
  return found
}

describe.each(['v1', 'v2'] as const)('an upstream of the official SDK %s', (version) => {
  test.each(eras)('is refused an answer in a call that a person approved, for a client of %s', async (revision) => {
    const { text, asked, effect, questions, records } = await approvedCall(version, revision, {})
    expect(text).toMatch(/^\["decline".*\] run 1$/)
    expect(asked).toBe(0)
    expect(effect).not.toHaveProperty('Questions')
    expect(questions).toBeUndefined()
    expect(records).toEqual([])
  })

  test.each(eras)(
    'may ask if the operator relays questions, and the ticket says so, for a client of %s',
    async (revision) => {
      const called = await approvedCall(version, revision, { questions: 'relay' })
      const { id, text, asked, effect, questions, records } = called
      expect(text).toBe('["accept",{"name":"Ada"}] run 1')
      expect(asked).toBe(1)
      expect(effect).toMatchObject({ Questions: expect.stringContaining('does not cover the answers') })
      const answer = '{"action":"accept","content":{"name":"Ada"}}'
      expect(questions).toMatchObject([{ question: 'asking asks: Who?', answer }])
      const about = { ticket: id, target: 'form', upstream: 'asking', method: 'elicitation/create' }
      expect(records).toMatchObject([
        { kind: 'questionAsked', ...about },
        { kind: 'questionAnswered', ...about, action: 'accept' },
      ])
      // The audit has digests, not words.
      expect(JSON.stringify(records)).not.toContain('Ada')
    },
  )
})

test('an approved call has its connection on stdio for itself, and the audit says whose a question is', async () => {
  const store = memoryStore()
  const audit = createAudit({ store })
  const approvals = createApprovals({ store, audit })
  const asking = upstream({
    ...{ name: 'asking', scope: 'tenant', command: process.execPath },
    args: [join(import.meta.dirname, 'upstreams', 'asking-v1.fixture.ts'), 'stdio'],
    rules: [{ tools: 'form', approval: 'always', questions: 'relay' }],
  })
  const { url } = await servedAlone(asking, { store, use: [...withTokens, approvals, audit] })
  const order: string[] = []
  const bob = await clientOf(
    url,
    {
      handlers: {
        roots() {
          order.push('bob was asked')
          return { roots: [] }
        },
      },
    },
    token('acme.bob'),
  )
  let ofBob: Promise<unknown> | undefined
  const form = async () => {
    ofBob = bob.callTool('roots', { tag: 'bob' })
    // Time for his call to reach the upstream, if it could.
    for (let i = 0; i < 20; i++) await bob.request('tools/list')
    order.push('ann answered')
    return { action: 'accept', content: { name: 'Ann' } }
  }
  const ann = await clientOf(url, { handlers: { form } }, token('acme.ann'))
  const { _meta } = await ann.callTool('form', { tag: 'ann' })
  const id = String(((_meta as Members)['dev.sluice/approval'] as Members)['request_id'])
  await approvals.decide(id, { approved: true }, owner)
  expect(await ann.callTool('form', { tag: 'ann' })).toMatchObject({
    content: [{ text: '["accept",{"name":"Ann"}] run 1' }],
  })
  expect(await ofBob).toMatchObject({ content: [{ text: '[] run 1' }] })
  expect(order).toEqual(['ann answered', 'bob was asked'])
  await expect
    .poll(() => recordsOf(store, 'questionAsked'))
    .toMatchObject([{ ticket: id, attribution: 'only call' }, { attribution: 'only call' }])
})

test('two calls that ask on one stdio connection: the oldest is asked first, and the audit says so', async () => {
  const store = memoryStore()
  const asking = upstream({
    ...{ name: 'asking', scope: 'tenant', command: process.execPath },
    args: [join(import.meta.dirname, 'upstreams', 'asking-v1.fixture.ts'), 'stdio'],
  })
  const { url } = await servedAlone(asking, { store, use: [...withTokens, createAudit({ store })] })
  const both = Promise.withResolvers<void>()
  let asked = 0
  const form = async () => {
    if (++asked === 2) both.resolve()
    await both.promise
    return { action: 'accept', content: { name: 'Ada' } }
  }
  const client = await clientOf(url, { handlers: { form } }, token('acme.ann'))
  await Promise.all(['one', 'two'].map((tag) => client.callTool('form', { tag })))
  const attributions = async (): Promise<unknown> =>
    (await recordsOf(store, 'questionAsked')).map(({ attribution }) => attribution)
  await expect.poll(attributions).toContain('oldest call')
})
