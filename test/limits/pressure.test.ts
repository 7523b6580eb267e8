/** A tool that blocks the event loop, on a real server: what the gate does about it, and that an operator can say from when. */

import { defineServer, log, tool } from 'sluice'
import { gate, serveHttp } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'
import { callOf, headersFor } from '../hostile/messages.ts'

const block = tool({
  name: 'block',
  description: 'Computes for half a second in one turn',
  run() {
    const until = performance.now() + 500
    while (performance.now() < until);
    return 'done'
  },
})
const quick = tool({ name: 'quick', description: 'Answers at once', run: () => 'done' })

async function serve(options: Parameters<typeof gate>[0]) {
  const silent = { info() {}, warn() {}, error() {} }
  const definition = defineServer({ info: { name: 'busy', version: '1' }, tools: [block, quick] })
  const serving = await serveHttp(definition, { port: 0, gate: gate(options), runtime: { log: log(silent) } })
  onTestFinished(serving.close)
  return async (name: string): Promise<Response> => {
    const message = callOf(1, name)
    const headers = { 'content-type': 'application/json', ...headersFor(message) }
    return fetch(serving.url, { method: 'POST', headers, body: JSON.stringify(message) })
  }
}
/** Again and again until the status is there: how soon is the machine's business. */
async function until(status: number, ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask()
    if (response.status === status) return response
    await response.text()
  }
}

test('after a tool blocked the loop new work is refused, with when to come back, and taken again when it is calm', async () => {
  const call = await serve({})
  const refused = await until(503, async () => {
    await until(200, () => call('block'))
    return call('quick')
  })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await refused.json()).toMatchObject({ error: { code: 50300, data: { reason: 'overloaded' } } })
  expect(await (await until(200, () => call('quick'))).json()).toMatchObject({ result: { isError: false } })
}, 60_000)

test('an operator whose tools compute for long says from when it counts', async () => {
  const call = await serve({ marks: { lagMs: 3_600_000 } })
  for (let i = 0; i < 3; i++) {
    expect((await call('block')).status).toBe(200)
    expect((await call('quick')).status).toBe(200)
  }
}, 60_000)
