/** The official clients and ours, over every transport, on every behaviour: one complete table. */

import { fileURLToPath } from 'node:url'
import type { HttpServing } from 'sluice/node'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { OfficialClient, ServerLocation } from '../kit/clients/official.client.ts'
import { connectV1 } from '../kit/clients/official-v1.client.ts'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import { connectSluice } from '../kit/clients/sluice.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'
import { behaviours } from './behaviours.ts'

const clients: {
  readonly [name: string]: { connect(place: ServerLocation): Promise<OfficialClient>; readonly revision: string }
} = {
  'v2, 2026-07-28': { connect: (place) => connectV2(place, { pin: '2026-07-28' }), revision: '2026-07-28' },
  'v2, legacy': { connect: (place) => connectV2(place, 'legacy'), revision: '2025-11-25' },
  v1: { connect: connectV1, revision: '2025-11-25' },
  'sluice, 2026-07-28': { connect: (place) => connectSluice(place, '2026-07-28'), revision: '2026-07-28' },
  'sluice, legacy': { connect: (place) => connectSluice(place, '2025-11-25'), revision: '2025-11-25' },
}
const program = fileURLToPath(new URL('../kit/servers/everything.fixture.ts', import.meta.url))
const piped: ServerLocation = { transport: 'stdio', command: process.execPath, args: [program, '--stdio'] }

const transports = ['http', 'stdio', 'sse', 'websocket'] as const
const table = Object.entries(clients).flatMap(([name, client]) => transports.map((over) => ({ name, over, ...client })))

/** The address of a transport, from that of the endpoint. */
const beside: { readonly [over: string]: (url: string) => string } = {
  http: (url) => url,
  sse: (url) => url.replace(/mcp$/, 'sse'),
  websocket: (url) => url.replace('http', 'ws').replace(/mcp$/, 'ws'),
}

describe.each(table)('$name over $over', ({ over, connect, revision }) => {
  let serving: HttpServing | undefined
  let peer: OfficialClient
  const place = (): ServerLocation =>
    serving && over !== 'stdio' ? { transport: over, url: beside[over]?.(serving.url) ?? '' } : piped
  beforeAll(async () => {
    if (over !== 'stdio') serving = await serveHttp(createEverything(), { port: 0, sse: sse(), websocket: websocket() })
    peer = await connect(place())
  })
  afterAll(async () => {
    await peer?.close()
    await serving?.close()
  })

  test('speaks the revision it should', () => {
    expect(peer.revision).toBe(revision)
  })
  test.each(Object.entries(behaviours))('%s', async (_name, behave) => {
    await behave(peer)
  })
  test('ends its session', async () => {
    const other = await connect(place())
    onTestFinished(() => other.close())
    expect(await other.call('say', { text: 'hello' })).toMatchObject({ isError: false })
    const { sessionId, pid } = other
    const hasSession = over === 'http' && revision !== '2026-07-28'
    expect(typeof sessionId).toBe(hasSession ? 'string' : 'undefined')
    await other.endSession()
    if (hasSession && serving) expect(await statusOfSession(serving.url, sessionId)).toBe(404)
    await other.close()
    // The pipe is closed and nothing had to be killed: the process exits by itself.
    if (pid !== undefined) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    // Other clients are not affected.
    expect(await peer.call('say', { text: 'hello' })).toMatchObject({ isError: false })
  })
})

test.each(['http', 'stdio'] as const)('v2 that negotiates by itself uses the newest revision over %s', async (over) => {
  const serving = over === 'http' ? await serveHttp(createEverything(), { port: 0 }) : undefined
  const peer = await connectV2(serving ? { transport: 'http', url: serving.url } : piped, 'auto')
  onTestFinished(async () => {
    await peer.close()
    await serving?.close()
  })
  expect(peer.revision).toBe('2026-07-28')
  expect(await peer.call('say', { text: 'hello' })).toMatchObject({ isError: false })
})

test('a subscriber of 2026-07-28 is notified when the server closes', async () => {
  const serving = await serveHttp(createEverything(), { port: 0 })
  const peer = await connectV2({ transport: 'http', url: serving.url }, { pin: '2026-07-28' })
  onTestFinished(() => peer.close())
  const { ended } = await peer.subscribe({ lists: ['tools'] })
  await serving.close()
  expect(await ended).toBe('graceful')
})

test('a subscriber of 2026-07-28 over stdio is notified when the process is asked to end', async () => {
  const peer = await connectV2(piped, { pin: '2026-07-28' })
  onTestFinished(() => peer.close())
  const { ended } = await peer.subscribe({ lists: ['tools'] })
  if (peer.pid !== undefined) process.kill(peer.pid, 'SIGTERM')
  expect(await ended).toBe('graceful')
})

async function statusOfSession(url: string, sessionId: string | undefined): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-session-id': sessionId ?? '',
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  return (await fetch(url, { method: 'POST', headers, body })).status
}
