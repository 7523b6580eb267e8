/** `sluice/client` on real edge runtimes: no Node, no eval. */

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningRuntime, runtimes, startRuntime } from '../kit/processes/edge-runtimes.ts'

describe.each(runtimes)('%s', (runtime) => {
  let running: RunningRuntime
  beforeAll(async () => {
    running = await startRuntime(runtime, fileURLToPath(new URL('client-worker.ts', import.meta.url)))
  }, 60_000)
  afterAll(() => running?.close())

  test.each([
    ['modern', '2026-07-28'],
    ['legacy', '2025-11-25'],
  ])('the client calls a server of the %s era', async (era, revision) => {
    const response = await fetch(new URL(`/${era}`, running.url))
    expect(await response.json()).toEqual({ revision, names: ['echo'], content: [{ type: 'text', text: 'hello' }] })
  })
})
