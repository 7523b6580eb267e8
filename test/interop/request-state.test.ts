/** State that travels through a client of 2026-07-28 between two rounds comes back unchanged, or is refused. */

import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Params, ProtocolClient } from '../kit/clients/protocol.client.ts'
import { callTool, errorOf, modern, openProtocolClient, resultOf, transports } from '../kit/clients/protocol.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

const where = { where: { action: 'accept', content: { city: 'Oslo' } } }
const when = { when: { action: 'accept', content: { day: 'Monday' } } }
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const refused = { code: -32602, data: { reason: 'invalidParams' } }

describe.each(transports)('over %s', (transport) => {
  async function wired(server = createEverything()): Promise<ProtocolClient> {
    const wire = await openProtocolClient(transport, modern, { server })
    onTestFinished(() => wire.close())
    return wire
  }
  const plan = (wire: ProtocolClient, more: Params, args: Params = { key: 'k' }): Promise<Params | null> =>
    wire.send('tools/call', { name: 'plan', arguments: args, ...more })
  const stateOf = (response: Params | null): string => String(resultOf(response)['requestState'])
  const runs = async (wire: ProtocolClient): Promise<unknown> =>
    resultOf(await callTool(wire, 'runs', { key: 'k' }))['content']
  const never = [{ type: 'text', text: '0' }]

  test('three rounds lead to one run', async () => {
    const wire = await wired()
    const first = await plan(wire, {})
    expect(resultOf(first)).toMatchObject({
      resultType: 'input_required',
      inputRequests: { where: { method: 'elicitation/create', params: { message: 'Where to?' } } },
      requestState: expect.any(String),
    })
    for (const hint of ['ttlMs', 'cacheScope', 'content']) expect(resultOf(first)).not.toHaveProperty(hint)
    const second = await plan(wire, { inputResponses: where, requestState: stateOf(first) })
    expect(Object.keys(Object(resultOf(second)['inputRequests']))).toEqual(['when'])
    expect(stateOf(second)).not.toBe(stateOf(first))
    expect(await runs(wire)).toEqual(never)
    const third = await plan(wire, { inputResponses: when, requestState: stateOf(second) })
    expect(resultOf(third)).toMatchObject({ resultType: 'complete', content: [{ text: 'Oslo on Monday, run 1' }] })
  })
  test('each changed character is refused', async () => {
    const wire = await wired()
    const second = await plan(wire, { inputResponses: where, requestState: stateOf(await plan(wire, {})) })
    const state = stateOf(second)
    expect(state).toMatch(/^[\w-]+\.[\w-]+$/)
    for (let at = 0; at < state.length; at++) {
      const place = base64url.indexOf(state.charAt(at))
      // The neighbour differs in the last bit only; a dot becomes a letter.
      const changed = place === -1 ? 'A' : base64url.charAt(place ^ 1)
      const requestState = `${state.slice(0, at)}${changed}${state.slice(at + 1)}`
      expect(errorOf(await plan(wire, { inputResponses: when, requestState }))).toMatchObject(refused)
    }
    expect(await runs(wire)).toEqual(never)
    expect(resultOf(await plan(wire, { inputResponses: when, requestState: state }))).toMatchObject({ isError: false })
  })
  test('truncated, extended, empty or not text: all are refused', async () => {
    const wire = await wired()
    const state = stateOf(await plan(wire, { inputResponses: where, requestState: stateOf(await plan(wire, {})) }))
    const [iv = '', sealed = ''] = state.split('.')
    for (const requestState of [
      '',
      '.',
      iv,
      `${iv}.`,
      `.${sealed}`,
      `${state}A`,
      `${state}=`,
      ` ${state}`,
      state.slice(0, -1),
      7,
      null,
      {},
      [state],
    ])
      expect(errorOf(await plan(wire, { inputResponses: when, requestState }))['code']).toBe(-32602)
    expect(await runs(wire)).toEqual(never)
  })
  test('with other arguments, for another tool or another kind of call, it is refused', async () => {
    const wire = await wired()
    const requestState = stateOf(await plan(wire, {}))
    expect(errorOf(await plan(wire, { inputResponses: where, requestState }, { key: 'other' }))).toMatchObject(refused)
    const survey = { name: 'survey', arguments: { key: 'k' }, requestState }
    expect(errorOf(await wire.send('tools/call', survey))).toMatchObject(refused)
    expect(errorOf(await wire.send('resources/read', { uri: 'note://locked', requestState }))).toMatchObject(refused)
    expect(await runs(wire)).toEqual(never)
  })
  test('the order of the arguments does not matter, their values do', async () => {
    const wire = await wired()
    const requestState = stateOf(await plan(wire, {}))
    expect(resultOf(await plan(wire, { inputResponses: where, requestState }))).toMatchObject({
      resultType: 'input_required',
    })
    expect(errorOf(await plan(wire, { inputResponses: where, requestState }, { key: 'K' }))).toMatchObject(refused)
  })
  test('state of a server with another secret is refused, of one with the same secret accepted', async () => {
    const secret = 'a secret that is long enough'
    const one = await wired(createEverything({ secret }))
    const two = await wired(createEverything({ secret }))
    const rotated = await wired(createEverything({ secret: ['a newer secret, also long', secret] }))
    const stranger = await wired(createEverything())
    const requestState = stateOf(await plan(one, {}))
    const next = { inputResponses: where, requestState }
    for (const wire of [one, two, rotated])
      expect(resultOf(await plan(wire, next))).toMatchObject({ resultType: 'input_required' })
    expect(errorOf(await plan(stranger, next))).toMatchObject(refused)
  })
  test('it lasts ten minutes', async () => {
    const clock = fakeClock(1_000_000)
    const wire = await wired(createEverything({ clock }))
    const requestState = stateOf(await plan(wire, {}))
    await clock.advance(10 * 60_000 - 1)
    expect(resultOf(await plan(wire, { inputResponses: where, requestState }))).toMatchObject({
      resultType: 'input_required',
    })
    await clock.advance(1)
    expect(errorOf(await plan(wire, { inputResponses: where, requestState }))).toMatchObject(refused)
  })
  test('answers without it start over, and unrequested answers are ignored', async () => {
    const wire = await wired()
    // The first answer is there, so only the second question is asked; an answer to a question that was not asked is
    // ignored.
    const early = resultOf(await plan(wire, { inputResponses: { ...when, other: { action: 'accept' } } }))
    expect(Object.keys(Object(early['inputRequests']))).toEqual(['where'])
    expect(await runs(wire)).toEqual(never)
  })
  test('invalid answers are asked for again, and answers that are not an object are refused', async () => {
    const wire = await wired()
    const requestState = stateOf(await plan(wire, {}))
    for (const answer of [7, null, {}, { action: 'perhaps' }, { action: 'accept', content: { city: 'x' } }])
      expect(resultOf(await plan(wire, { inputResponses: { where: answer }, requestState }))).toMatchObject({
        resultType: 'input_required',
        inputRequests: { where: expect.anything() },
      })
    for (const inputResponses of [7, true, 'x', []])
      expect(errorOf(await plan(wire, { inputResponses, requestState }))['code']).toBe(-32602)
  })
})
