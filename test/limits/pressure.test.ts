/**
 * Tools that block the event loop, on a real server: which calls admission control refuses because of it, and which
 * not.
 */

import { defineServer, tool } from 'sluice'
import { admission, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { expect, onTestFinished, test } from 'vitest'
import { callOf, headersFor } from '../kit/clients/valid-messages.ts'

const block = tool({
  name: 'block',
  description: 'Computes for half a second in one turn',
  run() {
    const until = performance.now() + 500
    while (performance.now() < until);
    return 'done'
  },
})
const brief = tool({
  name: 'brief',
  description: 'Computes for a tenth of a second in one turn',
  run() {
    const until = performance.now() + 100
    while (performance.now() < until);
    return 'done'
  },
})
const quick = tool({ name: 'quick', description: 'Answers at once', run: () => 'done' })

async function serve(options: Parameters<typeof admission>[0]) {
  const silent = { info() {}, warn() {}, error() {} }
  const definition = defineServer({ name: 'busy', version: '1', tools: [block, brief, quick] })
  const serving = await serveHttp(definition, {
    port: 0,
    admission: admission(options),
    use: [log(silent)],
  })
  onTestFinished(serving.close)
  return async (name: string): Promise<Response> => {
    const message = callOf(1, name)
    const headers = { 'content-type': 'application/json', ...headersFor(message) }
    return fetch(serving.url, { method: 'POST', headers, body: JSON.stringify(message) })
  }
}

test('a single client is never refused because a tool blocked the loop', async () => {
  const call = await serve({})
  for (let round = 0; round < 4; round++) {
    for (const name of ['block', 'quick', 'quick']) expect((await call(name)).status).toBe(200)
  }
}, 60_000)

test('neither is one with a few concurrent calls', async () => {
  const call = await serve({})
  const statuses = async (): Promise<readonly number[]> =>
    (await Promise.all(Array.from({ length: 5 }, () => call('block')))).map(({ status }) => status)
  expect(await statuses()).toEqual([200, 200, 200, 200, 200])
  expect(await statuses()).toEqual([200, 200, 200, 200, 200])
}, 60_000)

test('many concurrent calls are refused while the loop is late, with a time to retry, and accepted again afterwards', async () => {
  const call = await serve({})
  let refused: Response | undefined
  while (!refused) {
    const responses = await Promise.all(Array.from({ length: 40 }, (_, index) => call(index === 0 ? 'block' : 'brief')))
    refused = responses.find(({ status }) => status === 503)
  }
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await refused.json()).toMatchObject({ error: { code: 50300, data: { reason: 'overloaded' } } })
  expect(await (await call('quick')).json()).toMatchObject({ result: { isError: false } })
}, 60_000)
