/**
 * Session ids that are stolen, used on another route, or replayed after the end, on every entry point of every
 * deployment.
 */

import { authenticate } from 'sluice'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openEventStream } from '../kit/clients/streaming.client.ts'
import { initialize, request } from '../kit/clients/valid-messages.ts'
import { createAttackedServer } from '../kit/servers/attacked-server.fixture.ts'
import type { DeployedServer } from '../kit/servers/deployments.ts'
import { deployments } from '../kit/servers/deployments.ts'
import { verifier } from '../kit/servers/verifier.fixture.ts'

type Headers = { readonly [name: string]: string }

const each = deployments.map((place) => ({ ...place, name: place.nameOf('a server') }))
const by = (who: string): Headers => ({ authorization: `Bearer good-${who}` })
const echo = request(5, 'tools/call', { name: 'echo', arguments: { text: 'a' } })

describe.each(each)('$name', ({ open }) => {
  const { server, runs } = createAttackedServer({ use: [authenticate({ verifiers: [verifier] })] })
  let standing: DeployedServer
  beforeAll(async () => {
    standing = await open(server)
  })
  afterAll(() => standing.close())

  const at = (path: string): string => `http://127.0.0.1:${standing.port}${path}`
  const asked = async (path: string, headers: Headers, method = 'POST', message: object = echo): Promise<number> => {
    const content = method === 'POST' ? { body: JSON.stringify(message) } : {}
    const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    const response = await fetch(at(path), { method, headers: { ...accept, ...headers }, ...content })
    await response.body?.cancel()
    return response.status
  }
  const begin = async (who: string): Promise<Headers> => {
    const headers = { 'content-type': 'application/json', ...by(who) }
    const opened = await fetch(at(standing.endpoint), { method: 'POST', headers, body: JSON.stringify(initialize()) })
    await opened.text()
    return { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  }
  const beginOld = async (who: string): Promise<{ readonly messages: string; readonly id: string; close(): void }> => {
    const stream = await openEventStream(at(`${standing.base}/sse`), by(who))
    onTestFinished(stream.close)
    const messages = await stream.endpoint
    return { messages, id: messages.replace(/.*sessionId=/, ''), close: stream.close }
  }
  const ran = (): number => runs.get('echo') ?? 0

  test('the credential decides whose id it is, on every method', async () => {
    const session = await begin('ann')
    const before = ran()
    for (const method of ['POST', 'GET', 'DELETE']) {
      expect([method, await asked(standing.endpoint, { ...session, ...by('bob') }, method)]).toEqual([method, 404])
      expect([method, await asked(standing.endpoint, session, method)]).toEqual([method, 401])
    }
    const old = await beginOld('ann')
    expect(await asked(old.messages, by('bob'))).toBe(404)
    expect(await asked(old.messages, {})).toBe(401)
    expect(ran()).toBe(before)
    expect(await asked(standing.endpoint, { ...session, ...by('ann') })).toBe(200)
    expect(await asked(old.messages, by('ann'))).toBe(202)
  })

  test('an id of one route is unknown on the other, in any disguise', async () => {
    const { 'mcp-session-id': own = '' } = await begin('ann')
    const { messages, id } = await beginOld('ann')
    const before = ran()
    for (const carried of [id, id.replace('sse-', '')])
      for (const method of ['POST', 'GET', 'DELETE'])
        expect(await asked(standing.endpoint, { 'mcp-session-id': carried, ...by('ann') }, method)).toBe(404)
    for (const carried of [own, `sse-${own}`, `${id}&sessionId=${own}`.replace(id, own)])
      expect(await asked(messages.replace(id, carried), by('ann'))).toBe(404)
    expect(ran()).toBe(before)
  })

  test('an id is worthless once its session has ended', async () => {
    const session = { ...(await begin('ann')), ...by('ann') }
    expect(await asked(standing.endpoint, session, 'DELETE')).toBe(204)
    const old = await beginOld('ann')
    old.close()
    const before = ran()
    for (const method of ['POST', 'GET', 'DELETE']) expect(await asked(standing.endpoint, session, method)).toBe(404)
    await expect.poll(() => asked(old.messages, by('ann'), 'POST', request(6, 'ping'))).toBe(404)
    expect(await asked(old.messages, by('ann'))).toBe(404)
    expect(ran()).toBe(before)
  })
})
