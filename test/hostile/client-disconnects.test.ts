/** Clients that disconnect while they are queued for admission, on every entry point that queues: no slot is lost. */

import { createServer } from 'node:http'
import { defineServer, tool } from 'sluice'
import type { HttpServing } from 'sluice/node'
import { admission, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { expect, onTestFinished, test } from 'vitest'
import type { AdmissionControl, CreateAdmissionControl } from '../../packages/sluice/src/transports/http/admission.ts'
import { NodeRequest } from '../../packages/sluice/src/transports/node/http-message.ts'
import { rawHttp, toPost } from '../kit/clients/raw-http.client.ts'
import { openEventStream, openSocket } from '../kit/clients/streaming.client.ts'
import { callOf, headersFor, initialize, request } from '../kit/clients/valid-messages.ts'
import type { AdmissionLoad } from '../kit/servers/admission-load.ts'
import { loadOf } from '../kit/servers/admission-load.ts'

const call = callOf(1, 'wait')

/** Admission of one slot and a queue of four, and a tool that ends when the test says so. */
async function serve() {
  const waiting: (() => void)[] = []
  const wait = tool({
    name: 'wait',
    description: 'Waits for the test',
    run: (_, { signal }) =>
      new Promise<string>((resolve) => {
        const end = (): void => resolve('done')
        waiting.push(end)
        signal.addEventListener('abort', () => waiting.splice(waiting.indexOf(end), 1))
      }),
  })
  const definition = defineServer({ name: 'patient', version: '1', tools: [wait] })
  const silent = { info() {}, warn() {}, error() {} }
  let made: AdmissionControl | undefined
  const watched: CreateAdmissionControl = (around) => {
    made = admission({ concurrency: 1, queue: 4, queueMs: 3_600_000 })(around)
    return made
  }
  const serving: HttpServing = await serveHttp(definition, {
    port: 0,
    admission: watched,
    sse: sse(),
    websocket: websocket(),
    use: [log(silent)],
  })
  onTestFinished(serving.close)
  const port = Number(new URL(serving.url).port)
  const load = (): AdmissionLoad => loadOf(made)
  /** Polls until it holds; how soon depends on the machine. */
  async function until(wanted: Partial<AdmissionLoad>): Promise<void> {
    while (!Object.entries(wanted).every(([name, value]) => Reflect.get(load(), name) === value))
      await new Promise(setImmediate)
  }
  const post = async () => {
    const http = await rawHttp(port)
    http.write(toPost(port, JSON.stringify(call), headersFor(call)))
    onTestFinished(http.destroy)
    return http
  }
  const release = async (): Promise<void> => {
    while (waiting.length === 0) await new Promise(setImmediate)
    waiting.shift()?.()
  }
  return { port, load, until, post, release }
}

test('a client that disconnects while queued leaves the queue at once, and no slot is lost', async () => {
  const { load, until, post, release } = await serve()
  const first = await post()
  await until({ running: 1 })
  for (let round = 0; round < 3; round++) {
    const queued = await Promise.all([post(), post(), post(), post()])
    await until({ waiting: 4 })
    for (const http of queued) http.destroy()
    await until({ waiting: 0 })
  }
  await release()
  expect((await first.next()).status).toBe(200)
  await until({ running: 0, waiting: 0 })
  const after = await post()
  await release()
  expect((await after.next()).status).toBe(200)
  expect(load().shed).toBe(0)
})

test('a client that disconnects at the moment its slot becomes free does not keep it', async () => {
  const { until, post, release } = await serve()
  for (let round = 0; round < 10; round++) {
    const first = await post()
    await until({ running: 1 })
    const second = await post()
    await until({ waiting: 1 })
    second.destroy()
    await release()
    expect((await first.next()).status).toBe(200)
    await until({ running: 0, waiting: 0 })
  }
})

test('the same for messages of HTTP+SSE and for a socket', async () => {
  const { port, until, post, release } = await serve()
  const events = await openEventStream(`http://127.0.0.1:${port}/sse`)
  const messages = await events.endpoint
  const handshake = await rawHttp(port)
  onTestFinished(handshake.destroy)
  handshake.write(toPost(port, JSON.stringify(initialize()), {}, messages))
  expect((await handshake.next()).status).toBe(202)
  await events.next()
  await until({ running: 0 })
  const first = await post()
  await until({ running: 1 })
  // Larger than a cancellation may be, so that it is queued before it is read.
  const large = JSON.stringify(request(2, 'ping', { _meta: { note: 'x'.repeat(2_000) } }))
  const queued = await rawHttp(port)
  queued.write(toPost(port, large, {}, messages))
  const socket = await openSocket(`ws://127.0.0.1:${port}/ws`)
  socket.ws.send(JSON.stringify(call))
  await until({ waiting: 2 })
  queued.destroy()
  await until({ waiting: 1 })
  socket.ws.terminate()
  await until({ waiting: 0 })
  await release()
  expect((await first.next()).status).toBe(200)
  await until({ running: 0 })
  events.close()
})

test('reading the body of a request settles after its client has disconnected', async () => {
  const outcome = Promise.withResolvers<unknown>()
  const node = createServer((message) => {
    const asked = new NodeRequest(message)
    asked.onClose(() => {
      asked.body(1_000).then(outcome.resolve, outcome.resolve)
    })
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    node.close()
  })
  const address = node.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const http = await rawHttp(port)
  http.write(toPost(port, '{"half":').subarray(0, -1))
  await new Promise((resolve) => node.once('request', resolve))
  http.destroy()
  expect(await outcome.promise).toMatchObject({ reason: 'cancelled' })
})
