/**
 * transports/node/http-message.ts: a successful request creates no Error object. With its stack, one costs a sixth of
 * the request.
 */

import { defineServer, tool } from 'sluice'
import { admission, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { expect, onTestFinished, test, vi } from 'vitest'
import { callOf, headersFor } from '../kit/clients/valid-messages.ts'

const made = vi.hoisted(() => ({ errors: 0 }))
vi.mock('../../packages/sluice/src/core/error.ts', async (original) => {
  const actual = await original<typeof import('../../packages/sluice/src/core/error.ts')>()
  class Counted extends actual.RpcError {
    constructor(...args: ConstructorParameters<typeof actual.RpcError>) {
      super(...args)
      made.errors++
    }
  }
  return { ...actual, RpcError: Counted }
})

test('successful requests create no Error, from their first byte to the end of their connection', async () => {
  const hello = tool({ name: 'hello', description: 'Says hello', run: () => 'hello' })
  const silent = { info() {}, warn() {}, error() {} }
  const definition = defineServer({ name: 'x', version: '1', tools: [hello] })
  const serving = await serveHttp(definition, { port: 0, admission: admission(), use: [log(silent)] })
  onTestFinished(serving.close)
  const call = async (name: string): Promise<unknown> => {
    const message = callOf(1, name)
    const headers = { 'content-type': 'application/json', ...headersFor(message) }
    return (await fetch(serving.url, { method: 'POST', headers, body: JSON.stringify(message) })).json()
  }
  await call('nowhere')
  const refusals = made.errors
  expect(refusals).toBeGreaterThan(0)
  for (let i = 0; i < 5; i++) expect(await call('hello')).toMatchObject({ result: { isError: false } })
  await serving.close()
  expect(made.errors).toBe(refusals)
})
