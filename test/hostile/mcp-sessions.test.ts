/** Sessions of earlier revisions: guessed, replayed, crossed and flooded. */

import { RpcError } from 'sluice'
import type { TransportServer } from 'sluice/extend'
import { toTransportServer } from 'sluice/extend'
import { serveHttp, sessions } from 'sluice/node'
import { describe, expect, test } from 'vitest'
import { createSessions } from '../../packages/sluice/src/transports/http/legacy/sessions.ts'
import type { RawHttp, RawResponse } from '../kit/clients/raw-http.client.ts'
import { rawHttp, requestHead } from '../kit/clients/raw-http.client.ts'
import { initialize, request } from '../kit/clients/valid-messages.ts'
import { serveAttacked } from '../kit/servers/attacked-endpoint.fixture.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import { createPagedServer } from '../kit/servers/paged-lists.fixture.ts'

const { server, runs, port, post } = await serveAttacked()

describe('sessions of other clients', () => {
  const open = async (): Promise<string> => String((await post(initialize())).headers.get('mcp-session-id'))

  test('ids are 128 random bits', async () => {
    const ids: string[] = []
    // A connection may send 512 requests ahead of their answers.
    for (let round = 0; round < 4; round++) ids.push(...(await Promise.all(Array.from({ length: 500 }, open))))
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
    // Every one of the 128 bits is set in about half of them: 1000 ± 6 standard deviations.
    for (let digit = 0; digit < 32; digit++)
      for (const bit of [1, 2, 4, 8]) {
        const set = ids.filter((id) => Number.parseInt(id[digit] ?? '0', 16) & bit).length
        expect(Math.abs(set - 1000)).toBeLessThan(135)
      }
  })

  test('guessed ids find no session', async () => {
    const sessions = createSessions(toTransportServer(server), { idleMs: 1000, max: 1000 })
    const kept = Array.from({ length: 1000 }, () => {
      const session = sessions.create('127.0.0.1')
      return session
    })
    for (const session of kept) await sessions.register(session)
    let found = 0
    const digit = (): string => Math.floor(Math.random() * 16).toString(16)
    for (let guess = 0; guess < 100_000; guess++) {
      const near = kept[guess % kept.length]?.id ?? ''
      // One digit changed, or any text.
      const at = guess % 32
      const id =
        guess % 2 === 0
          ? near.slice(0, at) + ((Number.parseInt(near[at] ?? '0', 16) + 1) % 16).toString(16) + near.slice(at + 1)
          : Array.from({ length: 32 }, digit).join('')
      try {
        await sessions.get(id)
        found++
      } catch (thrown) {
        if (!(thrown instanceof RpcError) || thrown.reason !== 'sessionNotFound') throw thrown
      }
    }
    expect(found).toBe(0)
    await sessions.close()
    expect(sessions.size).toBe(0)
  })

  test('an id that is almost right is 404, on every method', async () => {
    const id = await open()
    const before = runs.get('echo') ?? 0
    for (const wrong of [
      id.toUpperCase(),
      `${id} ${id}`,
      `${id},${id}`,
      id.slice(0, -1),
      `${id}0`,
      '0'.repeat(32),
      '*',
      '__proto__',
      'constructor',
      '1',
      'undefined',
      'null',
      "' OR 1=1",
      '../x',
      `${id}\t.`,
    ]) {
      if (wrong === id) continue
      const response = await post(request(1, 'tools/call', { name: 'echo', arguments: { text: 'a' } }), {
        'mcp-session-id': wrong,
      })
      expect(response.status, wrong).toBe(404)
      for (const method of ['GET', 'DELETE']) {
        const own = await rawHttp(port)
        own.write(
          requestHead({ host: `127.0.0.1:${port}`, accept: 'text/event-stream', 'mcp-session-id': wrong }, { method }),
        )
        expect((await own.next()).status, `${method} ${wrong}`).toBe(404)
        own.destroy()
      }
    }
    expect(runs.get('echo') ?? 0).toBe(before)
    expect((await post(request(1, 'ping'), { 'mcp-session-id': id })).status).toBe(200)
  })

  test("a request without an id has no session, not even another's", async () => {
    await open()
    const response = await post(request(1, 'ping'))
    expect(response.status).toBe(400)
    expect((await post(request(1, 'ping'), { 'mcp-session-id': '' })).status).toBeGreaterThanOrEqual(400)
  })

  test('an ended id, also replayed later, is 404', async () => {
    const id = await open()
    const own = await rawHttp(port)
    own.write(requestHead({ host: `127.0.0.1:${port}`, 'mcp-session-id': id }, { method: 'DELETE' }))
    expect((await own.next()).status).toBe(204)
    for (let replay = 0; replay < 3; replay++)
      expect((await post(request(replay, 'ping'), { 'mcp-session-id': id })).status).toBe(404)
    expect(
      (
        await post(
          { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
          { 'mcp-session-id': id },
        )
      ).status,
    ).toBe(404)
    own.destroy()
  })

  test('a client cannot choose its id', async () => {
    const chosen = 'a'.repeat(32)
    const opened = await post(initialize(), { 'mcp-session-id': chosen })
    expect(opened.headers.get('mcp-session-id')).not.toBe(chosen)
    expect((await post(request(1, 'ping'), { 'mcp-session-id': chosen })).status).toBe(404)
  })

  test('one session cannot cancel, answer or resume what belongs to another', async () => {
    const [a, b] = [await open(), await open()]
    const waiting = await rawHttp(port)
    const stopped = runs.get('wait stopped') ?? 0
    const started = runs.get('wait') ?? 0
    const answer = waiting.post(JSON.stringify(request(99, 'tools/call', { name: 'wait', arguments: {} })), {
      'mcp-session-id': a,
    })
    await expect.poll(() => runs.get('wait')).toBe(started + 1)
    expect(
      (
        await post(
          { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
          { 'mcp-session-id': b },
        )
      ).status,
    ).toBe(202)
    for (const id of ['sluice-1', 'sluice-2'])
      expect((await post({ jsonrpc: '2.0', id, result: {} }, { 'mcp-session-id': b })).status).toBe(400)
    expect(runs.get('wait stopped') ?? 0).toBe(stopped)
    await post(
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
      { 'mcp-session-id': a },
    )
    expect((await answer).body).toBe('')
    expect(runs.get('wait stopped')).toBe(stopped + 1)
    waiting.destroy()
  })

  test('an event id of another session, or an invalid one, resumes nothing', async () => {
    const { server: own, notify } = createPagedServer()
    const ownServing = await serveHttp(own, { port: 0 })
    const at = Number(new URL(ownServing.url).port)
    const client = await rawHttp(at)
    const ids = [await client.post(JSON.stringify(initialize())), await client.post(JSON.stringify(initialize()))].map(
      ({ headers }) => String(headers.get('mcp-session-id')),
    )
    const [a = '', b = ''] = ids
    const listen = async (session: string, last?: string): Promise<RawHttp> => {
      const stream = await rawHttp(at)
      stream.write(
        requestHead(
          {
            host: `127.0.0.1:${at}`,
            accept: 'text/event-stream',
            'mcp-session-id': session,
            ...(last !== undefined && { 'last-event-id': last }),
          },
          { method: 'GET' },
        ),
      )
      return stream
    }
    const streamA = await listen(a)
    await streamA.seen(/text\/event-stream/)
    notify()
    const received = await streamA.seen(/id: (\S+)\n/)
    const event = /id: (\S+)\n/.exec(received)?.[1] ?? ''
    const place = event.slice(0, event.lastIndexOf('.'))
    for (const last of [
      event,
      `${place}.0`,
      `${place}.1`,
      `${place}.-1`,
      `${place}.1e9`,
      `${place}.`,
      '',
      '.',
      '..',
      '0',
      `${a}.0`,
      '__proto__.0',
      'x'.repeat(5000),
    ]) {
      const stolen = await listen(b, last)
      expect((await stolen.next()).status, last).toBe(400)
      stolen.destroy()
    }
    const resumed = await listen(a, `${place}.0`)
    await resumed.seen(/list_changed/)
    for (const each of [streamA, resumed, client]) each.destroy()
    await ownServing.close()
  })

  test('a flood of handshakes evicts idle sessions, never one with a running call', async () => {
    const own = createAttackedServer()
    const made: { readonly closed: boolean }[] = []
    const watched: TransportServer = {
      ...toTransportServer(own.server),
      attach(connection, send) {
        made.push(connection)
        return toTransportServer(own.server).attach(connection, send)
      },
    }
    const ownServing = await serveHttp(watched, { port: 0, sessions: sessions({ max: 2 }) })
    const at = Number(new URL(ownServing.url).port)
    const client = await rawHttp(at)
    const begin = async (): Promise<RawResponse> => client.post(JSON.stringify(initialize()))
    const busy = await Promise.all(
      [await begin(), await begin()].map(async ({ headers }) => {
        const session = { 'mcp-session-id': String(headers.get('mcp-session-id')) }
        const caller = await rawHttp(at)
        return {
          session,
          caller,
          answer: caller.post(JSON.stringify(request(1, 'tools/call', { name: 'wait', arguments: {} })), session),
        }
      }),
    )
    await expect.poll(() => own.runs.get('wait')).toBe(2)
    for (let flood = 0; flood < 50; flood++) expect((await begin()).status).toBe(503)
    // A refused handshake leaves nothing behind.
    expect(made.filter(({ closed }) => !closed)).toHaveLength(2)
    for (const { session, caller, answer } of busy) {
      await client.post(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
        session,
      )
      await answer
      caller.destroy()
    }
    for (let flood = 0; flood < 50; flood++) expect((await begin()).status).toBe(200)
    expect(made.filter(({ closed }) => !closed)).toHaveLength(2)
    client.destroy()
    await ownServing.close()
  })
})
