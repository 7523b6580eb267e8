import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { createServer } from '../node.ts'
import { elicitation } from '../plugins/elicitation.ts'
import { defineServer } from '../protocol/definition.ts'
import { form, optional, roots, sample, url, visit } from '../protocol/questions.ts'
import { tool } from '../protocol/tools.ts'
import { testClient } from '../testing/client.ts'
import { fakeClock } from '../testing/clock.ts'

const able = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const ran = vi.fn()
const survey = tool({
  name: 'survey',
  description: 'Two rounds',
  input: z.object({ topic: z.string() }),
  ask: (_, answers) => ({
    who: form('Who are you?', z.object({ name: z.string().min(2) })),
    ...('who' in answers && { colour: form('Which colour?', z.object({ colour: z.enum(['red', 'blue']) })) }),
  }),
  run({ topic }, { answers }) {
    ran()
    return `${answers.who.name} on ${topic}: ${answers.colour?.colour ?? 'none'}`
  },
})
const server = () => defineServer({ name: 'asking', version: '1', tools: [survey, other] })
const other = tool({
  name: 'other',
  description: 'Another',
  ask: () => ({ who: form('?', z.object({ name: z.string() })) }),
  run: () => 'x',
})
const people = (method: string, params: Params): unknown => {
  if (method !== 'elicitation/create') return undefined
  return { action: 'accept', content: params['message'] === 'Who are you?' ? { name: 'Ann' } : { colour: 'red' } }
}
const textOf = (result: Params): unknown =>
  Array.isArray(result['content']) && isObject(result['content'][0]) ? result['content'][0]['text'] : undefined

test.each(['2025-06-18', '2025-11-25', '2026-07-28'] as const)(
  'on %s a tool asks twice, the second time with the first answer, and runs once',
  async (revision) => {
    ran.mockClear()
    const client = await testClient(server(), { revision, capabilities: able, answer: people })
    expect(textOf(await client.call('survey', { topic: 'art' }))).toBe('Ann on art: red')
    expect(ran).toHaveBeenCalledTimes(1)
  },
)

test('a question whose answer the schema refuses is asked again', async () => {
  const client = await testClient(server(), { capabilities: able })
  const first = await client.request('tools/call', { name: 'survey', arguments: { topic: 'art' } })
  const again = await client.request('tools/call', {
    name: 'survey',
    arguments: { topic: 'art' },
    inputResponses: { who: { action: 'accept', content: { name: 'A' } }, extra: 1 },
    requestState: first['requestState'],
  })
  expect(again['resultType']).toBe('input_required')
  expect(Object.keys(isObject(again['inputRequests']) ? again['inputRequests'] : {})).toEqual(['who'])
})

test.each([
  ['decline', 'The person declined.'],
  ['cancel', 'The person cancelled.'],
])('a person who answers %s ends the call', async (action, text) => {
  const client = await testClient(server(), { capabilities: able, answer: () => ({ action }) })
  const result = await client.call('survey', { topic: 'art' })
  expect(result).toMatchObject({ isError: true })
  expect(textOf(result)).toBe(text)
})

test('an optional question may be declined, and the tool gets the refusal', async () => {
  const maybe = tool({
    name: 'maybe',
    description: 'Asks',
    ask: () => ({ who: optional(form('Who?', z.object({ name: z.string() }))) }),
    run: (_, { answers }) => answers.who?.name ?? 'nobody',
  })
  const definition = defineServer({ name: 'x', version: '1', tools: [maybe] })
  const no = await testClient(definition, { capabilities: able, answer: () => ({ action: 'decline' }) })
  expect(textOf(await no.call('maybe'))).toBe('nobody')
})

async function stateOf(client: Awaited<ReturnType<typeof testClient>>): Promise<string> {
  const first = await client.request('tools/call', { name: 'survey', arguments: { topic: 'art' } })
  return String(first['requestState'])
}

test.each([
  ['other arguments', { name: 'survey', arguments: { topic: 'music' } }],
  ['another tool', { name: 'other', arguments: {} }],
])('state of one call is refused with %s', async (_, params) => {
  const client = await testClient(createServer(server(), { use: [elicitation()] }), { capabilities: able })
  const requestState = await stateOf(client)
  await expect(client.request('tools/call', { ...params, requestState })).rejects.toMatchObject({
    error: { code: -32602 },
  })
})

test.each([5, null, {}, 'nonsense', ''])('state that is %j is refused', async (requestState) => {
  const client = await testClient(server(), { capabilities: able })
  const called = client.send('tools/call', { name: 'survey', arguments: { topic: 'art' }, requestState })
  expect(await called).toMatchObject({ error: { code: -32602 } })
})

test.each([5, 'x', []])('responses that are %j are refused', async (inputResponses) => {
  const client = await testClient(server(), { capabilities: able })
  const called = client.send('tools/call', { name: 'survey', arguments: { topic: 'art' }, inputResponses })
  expect(await called).toMatchObject({ error: { code: -32602 } })
})

test('state expires with the person’s time to think', async () => {
  const clock = fakeClock()
  const client = await testClient(createServer(server(), { clock, use: [elicitation()] }), { capabilities: able })
  const requestState = await stateOf(client)
  await clock.advance(10 * 60_000)
  const params = { name: 'survey', arguments: { topic: 'art' }, requestState }
  expect(await client.send('tools/call', params)).toMatchObject({ error: { code: -32602 } })
})

test('two processes with the same secret continue each other’s rounds', async () => {
  const secret = 'a secret that both share'
  const [one, two] = await Promise.all(
    [0, 1].map(() => testClient(createServer(server(), { secret, use: [elicitation()] }), { capabilities: able })),
  )
  if (!one || !two) return expect.unreachable()
  const requestState = await stateOf(one)
  const params = { name: 'survey', arguments: { topic: 'art' }, requestState }
  expect(await two.send('tools/call', params)).toMatchObject({ result: { resultType: 'input_required' } })
})

test('a secret too short to be one is refused at once', () => {
  expect(() => createServer(server(), { secret: 'short' })).toThrow('at least 16')
})

const needy = tool({
  name: 'needy',
  description: 'Needs everything',
  ask: () => ({
    form: form('Form?', z.object({ a: z.string() })),
    page: url('Open this', 'https://example.com/page'),
    model: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 }),
    tooled: sample({ messages: [], maxTokens: 5, tools: [{}] }),
    folders: roots(),
  }),
  run: (_, { answers }) => JSON.stringify(answers),
})

test('every capability that the client did not declare is named', async () => {
  const client = await testClient(defineServer({ name: 'x', version: '1', tools: [needy] }))
  expect(await client.send('tools/call', { name: 'needy' })).toMatchObject({
    error: {
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} } },
    },
  })
})

test('a legacy client that cannot be asked gets a text for its model', async () => {
  const definition = defineServer({ name: 'x', version: '1', tools: [needy] })
  const client = await testClient(definition, { revision: '2025-03-26' })
  expect(await client.call('needy')).toMatchObject({ isError: true })
})

test('every kind of answer reaches the tool', async () => {
  const definition = defineServer({ name: 'x', version: '1', tools: [needy] })
  const answer = (method: string, params: Params): unknown => {
    if (method === 'roots/list') return { roots: [{ uri: 'file:///a' }] }
    if (method === 'sampling/createMessage')
      return { role: 'assistant', model: 'm', content: { type: 'text', text: 'yo' } }
    return params['mode'] === 'url' ? { action: 'accept' } : { action: 'accept', content: { a: 'b' } }
  }
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    const client = await testClient(definition, { revision, capabilities, answer })
    expect(JSON.parse(String(textOf(await client.call('needy'))))).toMatchObject({
      form: { a: 'b' },
      page: true,
      model: { role: 'assistant' },
      folders: [{ uri: 'file:///a' }],
    })
  }
})

test('a page to visit stays open until the server’s own state says it is done', async () => {
  let connected = false
  const linked = tool({
    name: 'linked',
    description: 'Needs an account',
    ask: () =>
      connected ? {} : { account: visit('Connect your account', 'https://example.com/connect', 'connect-1') },
    run: () => 'connected',
  })
  const definition = defineServer({ name: 'x', version: '1', tools: [linked] })
  const modern = await testClient(definition, { capabilities: able })
  const asked = await modern.request('tools/call', { name: 'linked' })
  const accepted = { inputResponses: { account: { action: 'accept' } }, requestState: asked['requestState'] }
  expect(await modern.request('tools/call', { name: 'linked', ...accepted })).toMatchObject({
    resultType: 'input_required',
  })
  const legacy = await testClient(definition, { revision: '2025-11-25', capabilities: able })
  expect(await legacy.send('tools/call', { name: 'linked' })).toMatchObject({
    error: {
      code: -32042,
      data: { elicitations: [{ mode: 'url', elicitationId: 'connect-1', url: 'https://example.com/connect' }] },
    },
  })
  const older = await testClient(definition, { revision: '2025-06-18', capabilities: able })
  expect(textOf(await older.call('linked'))).toContain('https://example.com/connect')
  connected = true
  expect(textOf(await legacy.call('linked'))).toBe('connected')
  expect(textOf(await modern.request('tools/call', { name: 'linked', ...accepted }))).toBe('connected')
})

test('an optional page is not asked for again once the person declined', async () => {
  const connect = tool({
    name: 'connect',
    description: 'Connects an account',
    ask: () => ({ account: optional(visit('Sign in', 'https://pay.example/sign-in', 'sign-in')) }),
    run: (_, { answers }) => (answers.account === null ? 'without' : 'with'),
  })
  const from = defineServer({ name: 'asking', version: '1', tools: [connect] })
  const client = await testClient(from, { capabilities: able, answer: () => ({ action: 'decline' }) })
  expect(textOf(await client.call('connect'))).toBe('without')
})

test('a question may have any name', async () => {
  const named = tool({
    name: 'named',
    description: 'Asks',
    ask: () => ({ constructor: form('Who?', z.object({ name: z.string() })) }),
    run: (_, { answers }) => answers.constructor.name,
  })
  const from = defineServer({ name: 'asking', version: '1', tools: [named] })
  const answer = (): unknown => ({ action: 'accept', content: { name: 'Ann' } })
  expect(textOf(await (await testClient(from, { capabilities: able, answer })).call('named'))).toBe('Ann')
})

test('a tool that never stops asking is stopped', async () => {
  const endless = tool({
    name: 'endless',
    description: 'Asks for ever',
    ask: (_, answers) => ({ [`q${Object.keys(answers).length}`]: form('More?', z.object({ a: z.string() })) }),
    run: () => 'never',
  })
  const definition = defineServer({ name: 'x', version: '1', tools: [endless] })
  const answer = (): unknown => ({ action: 'accept', content: { a: 'b' } })
  const client = await testClient(definition, { revision: '2025-11-25', capabilities: able, answer })
  expect(textOf(await client.call('endless'))).toContain('too many questions')
})

test('2025-06-18 gets plain forms: names for choices, no defaults but for booleans, no lists', async () => {
  const { jsonSchema } = await import('../json-schema/index.ts')
  const seen: Params[] = []
  const make = (properties: Params) =>
    tool({
      name: 'forms',
      description: 'Asks',
      ask: () => ({ q: form('Choose', jsonSchema({ type: 'object', properties })) }),
      run: () => 'done',
    })
  const answer = (_: string, params: Params): unknown => {
    seen.push(params)
    return { action: 'accept', content: {} }
  }
  const ask = async (properties: Params) => {
    const definition = defineServer({ name: 'x', version: '1', tools: [make(properties)] })
    return (await testClient(definition, { revision: '2025-06-18', capabilities: able, answer })).call('forms')
  }
  await ask({
    size: { type: 'string', default: 's', oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }] },
    sure: { type: 'boolean', default: true },
  })
  expect(seen[0]).toEqual({
    message: 'Choose',
    requestedSchema: {
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'l'] },
        sure: { type: 'boolean', default: true },
      },
    },
  })
  expect(await ask({ many: { type: 'array', items: { enum: ['a'] } } })).toMatchObject({ isError: true })
})

test('a question that the client has not answered is withdrawn when another one of the call is refused', async () => {
  const both = tool({
    name: 'both',
    description: 'Asks twice at once',
    ask: () => ({ one: form('One?', z.object({ name: z.string() })), two: roots() }),
    run: () => 'x',
  })
  const clock = fakeClock()
  const definition = defineServer({ name: 'asking', version: '1', tools: [both] })
  const asked: string[] = []
  const client = await testClient(createServer(definition, { clock, use: [elicitation()] }), {
    ...{ revision: '2025-11-25', capabilities: able },
    answer: (method) => {
      asked.push(method)
      return method === 'roots/list' ? undefined : new Promise(() => {})
    },
  })
  expect(await client.call('both')).toMatchObject({ isError: true })
  expect(asked).toEqual(['elicitation/create', 'roots/list'])
  expect(client.received).toMatchObject([{ method: 'notifications/cancelled', params: { requestId: 'sluice-1' } }])
  // The deadline of the question was cancelled with it.
  expect(clock.pending).toBe(0)
})
