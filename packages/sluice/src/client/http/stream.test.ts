import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import type { HttpResponse } from './sender.ts'
import { readStream } from './stream.ts'

const notification = 'data:{"jsonrpc":"2.0","method":"notifications/x"}\n\n'

test.each([
  ['comments', ': x\n\n'],
  ['empty lines', '\n'],
  ['notifications', notification],
])('%s without end are read at a bounded rate', async (_, text) => {
  const clock = fakeClock()
  const chunk = new TextEncoder().encode(text.repeat(Math.floor((64 * 1024) / text.length)))
  let chunks = 0
  async function* flood(): AsyncGenerator<Uint8Array, void, undefined> {
    for (; chunks < 2000; chunks++) yield await Promise.resolve(chunk)
  }
  const response: HttpResponse = { status: 200, header: () => '', text: async () => '', chunks: flood, discard() {} }
  const ended = readStream(response, 1024 * 1024, clock, () => false)
  const oneSecond = async (): Promise<number> => {
    const before = chunks
    while (clock.pending === 0 && chunks < 2000) await new Promise(setImmediate)
    return chunks - before
  }
  expect(await oneSecond()).toBeLessThan(300)
  await clock.advance(1000)
  expect(await oneSecond()).toBeLessThan(300)
  chunks = 2000
  await clock.advance(1000)
  expect(await ended).toMatchObject({ answered: false })
})
