/** A parked call has one run, whatever an operator and another process do meanwhile. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Server } from 'sluice'
import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer } from 'sluice/node'
import { log } from 'sluice/plugins'
import { fakeClock, settle } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { memoryBus } from '../../packages/sluice/src/stores/memory-bus.ts'
import type { Members } from './raw-upstream.ts'

const operator = { subject: 'olga', credential: 'console', via: 'console', tenants: 'all', operator: true } as const
const timeoutMs = 60_000

test('a call parked past its timeout, resolved by an operator and repeated on another process, reaches the upstream once', async () => {
  const program = join(import.meta.dirname, 'upstreams', 'asking-v1.fixture.ts')
  const child = spawn(process.execPath, [program, 'http'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve))
  const clock = fakeClock(1_700_000_000_000)
  const store = memoryStore(clock)
  const bus = memoryBus()
  const secret = 'a secret that both processes have'
  const approvals = createApprovals({ store, bus, clock })
  /** Each has its own connections, as two processes have. */
  async function open(): Promise<Server> {
    const asking = upstream({
      ...{ name: 'asking', url, scope: 'shared', trust: 'always' },
      rules: [{ approval: 'always', questions: 'relay', timeoutMs }],
    })
    const definition = gateway({ name: 'team', version: '1.0.0', upstreams: [asking] }).endpoints['asking']
    if (!definition) throw new Error('no endpoint')
    const server = createServer(definition, {
      ...{ store, bus, clock, secret, use: [approvals, log({ info() {}, warn() {}, error() {} })] },
    })
    onTestFinished(() => server.close())
    await advanceUntil(server.ready())
    return server
  }
  /** Lets time pass while the network answers. */
  async function advanceUntil<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const ended = work.finally(() => {
      isOver = true
    })
    while (!isOver) {
      await clock.advance(1)
      await new Promise<void>((resolve) => setTimeout(resolve, 1))
    }
    return ended
  }
  let ids = 0
  const call = (server: Server, more: Members = {}): Promise<Members> => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    }
    const params = { name: 'form', arguments: { tag: 'one' }, ...more, _meta }
    const message = { jsonrpc: '2.0', id: ++ids, method: 'tools/call', params }
    return advanceUntil(server.handle(message)).then((reply) => {
      const { result, error } = reply as unknown as Members
      return (result ?? error) as Members
    })
  }
  const [owner, other] = [await open(), await open()]
  const meta = (await call(owner))['_meta'] as Members
  const id = String((meta['dev.sluice/approval'] as Members)['request_id'])
  await approvals.decide(id, { approved: true }, operator)
  const asked = await call(owner)
  expect(asked).toMatchObject({ resultType: 'input_required' })
  await clock.advance(timeoutMs * 5)
  await settle()
  // The process that holds the call is alive, so the call is running and not in doubt.
  expect(await approvals.get(id)).toMatchObject({ status: 'running' })
  await expect(approvals.resolve(id, 'did not run', operator)).rejects.toMatchObject({ reason: 'conflict' })
  const repeated = await call(other)
  expect(JSON.stringify(repeated)).not.toContain(' run ')
  const [key = ''] = Object.keys(asked['inputRequests'] as Members)
  const inputResponses = { [key]: { action: 'accept', content: { name: 'Ada' } } }
  const answer = await call(other, { inputResponses, requestState: asked['requestState'] })
  expect(answer).toMatchObject({ content: [{ text: '["accept",{"name":"Ada"}] run 1' }] })
  child.kill()
})
