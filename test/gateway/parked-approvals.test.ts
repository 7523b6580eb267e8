/** Questions of an upstream during calls that needed an approval: declined, unless the operator relays them. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
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
): Promise<{ readonly text: unknown; readonly asked: number; readonly effect: unknown }> {
  const url = await startAsking(version)
  const store = memoryStore()
  const approvals = createApprovals({ store })
  const asking = upstream({ name: 'asking', url, allowHosts: ['127.0.0.1'], rules: [{ approval: 'always', ...rule }] })
  const served = await servedAlone(asking, { store, use: [...withTokens, approvals] })
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
  return { text: (content as Members[])[0]?.['text'], asked, effect }
}

describe.each(['v1', 'v2'] as const)('an upstream of the official SDK %s', (version) => {
  test.each(eras)('is refused an answer in a call that a person approved, for a client of %s', async (revision) => {
    const { text, asked, effect } = await approvedCall(version, revision, {})
    expect(text).toMatch(/^\["decline".*\] run 1$/)
    expect(asked).toBe(0)
    expect(effect).not.toHaveProperty('Questions')
  })

  test.each(eras)(
    'may ask if the operator relays questions, and the ticket says so, for a client of %s',
    async (revision) => {
      const { text, asked, effect } = await approvedCall(version, revision, { questions: 'relay' })
      expect(text).toBe('["accept",{"name":"Ada"}] run 1')
      expect(asked).toBe(1)
      expect(effect).toMatchObject({ Questions: expect.stringContaining('does not cover the answers') })
    },
  )
})
