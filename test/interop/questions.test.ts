/** A tool's questions reach the client in the form of its revision, and the answers come back; the tool runs once. */

import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openHttp } from '../kit/clients/http.client.ts'
import { isStream, messagesOf, post } from '../kit/clients/http-events.ts'
import type {
  Params,
  ProtocolClient,
  ProtocolClientOptions,
  Revision,
  Transport,
} from '../kit/clients/protocol.client.ts'
import {
  allCapabilities,
  callTool,
  errorOf,
  isObject,
  legacy,
  matrix,
  methodIs,
  modern,
  objectAt,
  openProtocolClient,
  resultOf,
  transports,
} from '../kit/clients/protocol.client.ts'
import { createEverything } from '../kit/servers/everything.fixture.ts'

const answers: { readonly [method: string]: unknown } = {
  'roots/list': { roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'b' }] },
  'sampling/createMessage': { role: 'assistant', model: 'a-model', content: { type: 'text', text: 'Short' } },
}
const trip = { action: 'accept', content: { seats: 3, meal: 'soup', window: false } }

const elicitation = (revision: Revision): 'none' | 'form' | 'url' =>
  revision < '2025-06-18' ? 'none' : revision < '2025-11-25' ? 'form' : 'url'

interface Conversation {
  readonly wire: ProtocolClient
  /** Questions in order of arrival, in whatever form. */
  readonly asked: readonly [method: string, params: Params][]
  call(name: string, args?: Params): Promise<Params | null>
}

async function openConversation(
  { transport, revision }: { transport: Transport; revision: Revision },
  reply: (method: string, params: Params) => unknown,
  options: Partial<ProtocolClientOptions> = {},
): Promise<Conversation> {
  const asked: [string, Params][] = []
  const answer = (method: string, params: Params): unknown => {
    asked.push([method, params])
    return reply(method, params)
  }
  const wire = await openProtocolClient(transport, revision, { answer, ...options })
  onTestFinished(() => wire.close())
  return { wire, asked, call: (name, args) => callTool(wire, name, args, answer) }
}
const text = (said: string): Params => ({ content: [{ type: 'text', text: said }] })

describe.each(matrix)('$revision over $transport', (cell) => {
  const { transport, revision } = cell
  const hasForms = elicitation(revision) !== 'none'

  test('a form is sent if the revision has forms', async () => {
    const { asked, call } = await openConversation(cell, () => trip)
    const result = resultOf(await call('book'))
    if (elicitation(revision) === 'none') {
      expect(result).toMatchObject({
        isError: true,
        ...text('This client cannot be asked: it did not declare elicitation'),
      })
      expect(asked).toEqual([])
      return
    }
    expect(result).toMatchObject({ isError: false, ...text('3 seats, soup, window: false') })
    // Before 2025-11-25 there were no modes, and only booleans had defaults.
    const rich = revision >= '2025-11-25'
    expect(asked).toEqual([
      [
        'elicitation/create',
        {
          ...(rich && { mode: 'form' }),
          message: 'Which trip?',
          requestedSchema: {
            type: 'object',
            properties: {
              seats: { type: 'integer', minimum: 1, maximum: 9, ...(rich && { default: 2 }) },
              meal: { type: 'string', enum: ['soup', 'salad'] },
              window: { type: 'boolean', default: true },
            },
            required: ['meal'],
          },
        },
      ],
    ])
  })
  test.each(['decline', 'cancel'] as const)('a person may %s a form', async (action) => {
    const { call } = await openConversation(cell, () => ({ action }))
    expect(resultOf(await call('book'))).toMatchObject({ isError: true })
  })
  test.runIf(hasForms)('an invalid form answer is asked again', async () => {
    let tries = 0
    const { asked, call } = await openConversation(cell, () =>
      ++tries === 1 ? { action: 'accept', content: { seats: 99 } } : trip,
    )
    expect(resultOf(await call('book'))).toMatchObject(text('3 seats, soup, window: false'))
    expect(asked).toHaveLength(2)
  })
  test.runIf(hasForms)('choices have names in the form of the revision', async () => {
    const { asked, call } = await openConversation(cell, (_method, { message }) => ({
      action: 'accept',
      content: message === 'Which color?' ? { color: '#0f0' } : { colors: ['#f00', '#0f0'] },
    }))
    expect(resultOf(await call('choose'))).toMatchObject(text('#0f0'))
    const named = [
      { const: '#f00', title: 'Red' },
      { const: '#0f0', title: 'Green' },
    ]
    const rich = revision >= '2025-11-25'
    const color = rich ? { oneOf: named } : { enum: ['#f00', '#0f0'], enumNames: ['Red', 'Green'] }
    expect(asked[0]?.[1]).toMatchObject({ requestedSchema: { properties: { color: { type: 'string', ...color } } } })
    const many = resultOf(await call('choose_many'))
    if (rich) {
      expect(many).toMatchObject(text('#f00 #0f0'))
      const colors = { type: 'array', items: { anyOf: named }, minItems: 1 }
      expect(asked[1]?.[1]).toMatchObject({ requestedSchema: { properties: { colors } } })
    } else expect(many).toMatchObject({ isError: true })
  })
  test('a page is requested if the revision has pages, by id if it requires one', async () => {
    const { asked, call } = await openConversation(cell, () => ({ action: 'accept' }))
    const result = resultOf(await call('open_page'))
    if (elicitation(revision) !== 'url') {
      expect(result).toMatchObject({ isError: true, ...text('Read the terms: https://example.com/terms') })
      return
    }
    expect(result).toMatchObject(text('opened: true'))
    expect(asked).toEqual([
      [
        'elicitation/create',
        {
          mode: 'url',
          message: 'Read the terms',
          url: 'https://example.com/terms',
          ...(revision !== modern && { elicitationId: expect.any(String) }),
        },
      ],
    ])
  })
  test('a task on a page is reported in the form of the revision', async () => {
    const { wire, asked, call } = await openConversation(cell, async () => {
      await callTool(wire, 'finish_signing', { key: 'k' })
      return { action: 'accept' }
    })
    const page = { mode: 'url', message: 'Sign the contract', url: 'https://example.com/sign/k' }
    const response = await call('sign', { key: 'k' })
    if (revision === modern) {
      expect(resultOf(response)).toMatchObject(text('signed k'))
      expect(asked).toEqual([['elicitation/create', page]])
    } else if (revision === '2025-11-25') {
      const error = errorOf(response)
      expect(error['code']).toBe(-32042)
      expect(objectAt(error, 'data')['elicitations']).toEqual([{ ...page, elicitationId: 'contract-k' }])
      await callTool(wire, 'finish_signing', { key: 'k' })
      expect(resultOf(await call('sign', { key: 'k' }))).toMatchObject(text('signed k'))
    } else
      expect(resultOf(response)).toMatchObject({
        isError: true,
        ...text('Sign the contract: https://example.com/sign/k'),
      })
  })
  test.runIf(revision === modern)('a required page may be declined', async () => {
    const { asked, call } = await openConversation(cell, () => ({ action: 'decline' }))
    expect(resultOf(await call('sign', { key: 'k' }))).toMatchObject({ isError: true, ...text('The person declined.') })
    expect(asked).toHaveLength(1)
  })
  test('the model is asked', async () => {
    const { asked, call } = await openConversation(cell, (method) => answers[method])
    expect(resultOf(await call('summarize', { text: 'Long' }))).toMatchObject(
      text('a-model: {"type":"text","text":"Short"}'),
    )
    expect(asked).toEqual([
      [
        'sampling/createMessage',
        {
          messages: [{ role: 'user', content: { type: 'text', text: 'Long' } }],
          maxTokens: 50,
          systemPrompt: 'Be brief',
        },
      ],
    ])
  })
  test('an empty answer of the model is asked again', async () => {
    let tries = 0
    const { call } = await openConversation(cell, (method) =>
      ++tries === 1 ? { role: 'assistant', model: 'm', content: null } : answers[method],
    )
    expect(resultOf(await call('summarize', { text: 'Long' }))).toMatchObject({ isError: false })
    expect(tries).toBe(2)
  })
  test('the roots are requested', async () => {
    const { asked, call } = await openConversation(cell, (method) => answers[method])
    expect(resultOf(await call('folders'))).toMatchObject(text('file:///a file:///b'))
    expect(asked.map(([method]) => method)).toEqual(['roots/list'])
  })
  test('two questions are asked at once', async () => {
    const { asked, call } = await openConversation(cell, (method) => answers[method])
    expect(resultOf(await call('both'))).toMatchObject(text('2 folders, a-model'))
    expect(asked.map(([method]) => method).sort()).toEqual(['roots/list', 'sampling/createMessage'])
  })
  test('whatever the number of rounds, the tool runs once', async () => {
    const { asked, call } = await openConversation(cell, (method) => answers[method])
    expect(resultOf(await call('survey', { key: 'k' }))).toMatchObject(text('2 folders, a-model, run 1'))
    expect(asked.map(([method]) => method)).toEqual(['roots/list', 'sampling/createMessage'])
    // The second question knows the first answer.
    expect(JSON.stringify(asked[1])).toContain('file:///a')
    expect(resultOf(await call('runs', { key: 'k' }))).toMatchObject(text('1'))
  })
  test('a client without the capability is not asked', async () => {
    const { wire, asked, call } = await openConversation(cell, (method) => answers[method], { capabilities: {} })
    for (const [tool, needs] of [
      ['summarize', { sampling: {} }],
      ['folders', { roots: {} }],
    ] as const) {
      const response = await call(tool, tool === 'summarize' ? { text: 'x' } : {})
      if (revision === modern)
        expect(errorOf(response)).toMatchObject({ code: -32021, data: { requiredCapabilities: needs } })
      else expect(resultOf(response)).toMatchObject({ isError: true })
    }
    expect(asked).toEqual([])
    if (transport === 'http' && revision === modern) expect(wire).toMatchObject({ last: { status: 400 } })
  })
  test('an empty elicitation capability means forms, not pages', async () => {
    const { asked, call } = await openConversation(cell, () => trip, { capabilities: { elicitation: {} } })
    const [page, filled] = [await call('open_page'), await call('book')]
    if (revision === modern) expect(errorOf(page)).toMatchObject({ code: -32021 })
    else expect(resultOf(page)).toMatchObject({ isError: true })
    expect(resultOf(filled)).toMatchObject({ isError: elicitation(revision) === 'none' })
    expect(asked).toHaveLength(elicitation(revision) === 'none' ? 0 : 1)
  })
})

describe.each(legacy.flatMap((revision) => transports.map((transport) => ({ transport, revision }))))(
  'questions as requests, $revision over $transport',
  (cell) => {
    test('a client that refuses ends the tool with a text', async () => {
      const { call } = await openConversation(cell, () => undefined)
      expect(resultOf(await call('folders'))).toMatchObject({
        isError: true,
        ...text('The client refused roots/list: Not supported'),
      })
    })
    test('a cancelled call withdraws its question', async () => {
      const never = new Promise<never>(() => {})
      const { wire } = await openConversation(cell, () => never)
      const response = wire.send('tools/call', { name: 'folders' }, { id: 'asking' })
      const question = await wire.received.next(methodIs('roots/list'))
      await wire.cancel('asking')
      const taken = await wire.received.next(methodIs('notifications/cancelled'))
      expect(taken['params']).toMatchObject({ requestId: question['id'] })
      expect(await response).toBeNull()
    })
    test('a question that is not answered in time is dropped', async () => {
      const never = new Promise<never>(() => {})
      const clock = fakeClock()
      const server = createEverything({ clock, answerWithinMs: 60_000 })
      const wire = await openProtocolClient(cell.transport, cell.revision, { server, answer: () => never })
      onTestFinished(() => wire.close())
      const response = wire.send('tools/call', { name: 'folders' })
      await wire.received.next(methodIs('roots/list'))
      await clock.advance(60_000)
      expect(await wire.received.next(methodIs('notifications/cancelled'))).toBeDefined()
      expect(resultOf(await response)).toMatchObject({ isError: true })
    })
  },
)

describe('over HTTP', () => {
  test.each(legacy)('%s is asked on the stream of its call, never on another', async (revision) => {
    const wire = await openHttp(createEverything(), { revision, capabilities: allCapabilities })
    onTestFinished(() => wire.close())
    const { url, session } = wire
    const call = await post(
      url,
      { jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'folders' } },
      session,
    )
    expect(isStream(call)).toBe(true)
    const seen: unknown[] = []
    for await (const message of messagesOf(call)) {
      if (!isObject(message)) continue
      seen.push(message['method'] ?? message['id'])
      if (message['method'] === 'roots/list') {
        const response = { jsonrpc: '2.0', id: message['id'], result: answers['roots/list'] }
        // No question is open in another session, or under another id.
        expect((await post(url, { ...response, id: 'sluice-99' }, session)).status).toBe(400)
        const stranger = await post(url, {
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: revision },
        })
        const foreign = { 'mcp-session-id': stranger.headers.get('mcp-session-id') ?? '' }
        expect((await post(url, response, foreign)).status).toBe(400)
        expect((await post(url, response, session)).status).toBe(202)
        // It was answered once; a second answer matches no pending request.
        expect((await post(url, response, session)).status).toBe(400)
      }
    }
    expect(seen).toEqual(['roots/list', 'c'])
    expect(wire.received.all).toEqual([])
  })
  test('a response posted to 2026-07-28 is refused', async () => {
    const wire = await openHttp(createEverything(), { revision: modern, capabilities: {} })
    onTestFinished(() => wire.close())
    const response = await post(
      wire.url,
      { jsonrpc: '2.0', id: 'sluice-1', result: {} },
      { 'mcp-protocol-version': modern },
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: -32600 } })
  })
})
