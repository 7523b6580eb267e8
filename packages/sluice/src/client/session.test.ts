import { expect, test } from 'vitest'
import { fakeClock, settle } from '../testing/clock.ts'
import { createSession } from './session.ts'
import type { Receiver, Transport } from './transport.ts'

test('a question on a channel belongs to the oldest call that can answer, also after hundreds of calls', async () => {
  let receiver: Receiver | undefined
  const transport: Transport = {
    ...{ server: 'test', mirrorsHeaders: false, agreed() {} },
    open: async (opened) => {
      receiver = opened
    },
    send: async () => {},
    close: async () => {},
  }
  const listener = {
    ...{ notification() {}, ignored() {}, closed() {}, streamEnded() {} },
    answer: async () => expect.unreachable(),
  }
  const session = createSession(transport, listener, fakeClock())
  await session.open({ timeoutMs: 1000 })
  session.allowQuestions(true)
  const asked: number[] = []
  // Numbers that share a bucket, and one whose bucket comes first.
  for (const id of [63, 64, 127, 128]) {
    const answer = async () => {
      asked.push(id)
      return new Promise<never>(() => {})
    }
    session.ask(id, 'tools/call', {}, { timeoutMs: 1000, answer }).catch(() => {})
  }
  for (let n = 0; n < 4; n++) receiver?.message({ jsonrpc: '2.0', id: n, method: 'roots/list', params: {} }, undefined)
  await settle()
  expect(asked).toEqual([63, 64, 127, 128])
  await session.close()
})
