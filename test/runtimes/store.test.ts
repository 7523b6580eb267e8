/** A store elsewhere, on real edge runtimes: the audit is written, and limits do not wait for a store that hangs. */

import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { callOf, headersFor } from '../kit/clients/valid-messages.ts'
import { runtimes, startRuntime } from '../kit/processes/edge-runtimes.ts'

const worker = fileURLToPath(new URL('store-worker.ts', import.meta.url))

test.each(runtimes)('%s records each call, and answers while the store hangs', { timeout: 60_000 }, async (runtime) => {
  const running = await startRuntime(runtime, worker)
  onTestFinished(() => running.close())
  const call = async (): Promise<unknown> => {
    const message = callOf(1, 'echo')
    const accept = 'application/json, text/event-stream'
    const headers = { 'content-type': 'application/json', accept, ...headersFor(message) }
    const response = await fetch(`${running.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) })
    return response.json()
  }
  const answer = { result: { content: [{ type: 'text', text: 'hello' }] } }
  for (let times = 0; times < 3; times++) expect(await call()).toMatchObject(answer)
  await expect.poll(async () => (await fetch(`${running.url}/rows`)).json()).toBe(6)
  await fetch(`${running.url}/hang`)
  for (let times = 0; times < 3; times++) expect(await call()).toMatchObject(answer)
})
