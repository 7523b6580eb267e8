/**
 * What every official client must be able to do with a Sluice server, in both eras and over every transport: the rows
 * of the table in `official-clients.test.ts`.
 */

import { expect } from 'vitest'
import type { OfficialClient, Params } from '../kit/clients/official.client.ts'
import { annotations, bytes, icons, meta } from '../kit/servers/everything/content-tools.ts'

export type Behaviour = (peer: OfficialClient) => Promise<void>

const isModern = ({ revision }: OfficialClient): boolean => revision === '2026-07-28'
const text = (said: string): object => ({ content: [{ type: 'text', text: said }] })
const base64 = Buffer.from(bytes).toString('base64')
const namesOf = (entries: readonly Params[]): readonly unknown[] => entries.map(({ name }) => name)
let keys = 0
/** Behaviours share a server, so their counters and cancellations have unique keys. */
const newKey = (): string => `key-${++keys}`

const meeting: { readonly [behaviour: string]: Behaviour } = {
  async 'negotiates a revision and learns the server info'(peer) {
    expect(peer.info).toMatchObject({ name: 'everything', version: '1.2.3', title: 'Everything', icons })
    expect(peer.instructions).toBe('Try one after the other')
    expect(peer.capabilities).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    })
  },
  async 'lists all pages of the tools'(peer) {
    const tools = await peer.list('tools')
    expect(tools.length).toBeGreaterThan(20)
    expect(new Set(namesOf(tools)).size).toBe(tools.length)
    expect(tools.find(({ name }) => name === 'weather')).toMatchObject({
      title: 'Weather report',
      annotations: { title: 'Weather', readOnlyHint: true, openWorldHint: false },
      outputSchema: { type: 'object' },
      icons,
      _meta: meta,
    })
  },
}

const calling: { readonly [behaviour: string]: Behaviour } = {
  async 'calls a tool'(peer) {
    expect(await peer.call('say', { text: 'grüße 👋' })).toMatchObject({ ...text('grüße 👋'), isError: false })
  },
  async 'receives every kind of content'(peer) {
    const { content } = await peer.call('contents')
    expect(content).toEqual([
      { type: 'text', text: 'Plain words', annotations, _meta: meta },
      { type: 'image', data: base64, mimeType: 'image/png' },
      { type: 'audio', data: base64, mimeType: 'audio/wav', annotations },
      {
        type: 'resource',
        resource: { uri: 'note://embedded', mimeType: 'text/plain', text: 'Embedded', _meta: meta },
        annotations,
      },
      { type: 'resource', resource: { uri: 'note://embedded-bytes', mimeType: 'image/png', blob: base64 } },
      expect.objectContaining({ type: 'resource_link', uri: 'note://linked', title: 'A linked note', icons }),
    ])
  },
  async 'receives structured output, and checks it against the schema'(peer) {
    // After listing the tools, the clients check the results against the output schemas.
    await peer.list('tools')
    const structuredContent = { city: 'Oslo', celsius: 21.5, dry: true }
    expect(await peer.call('weather', { city: 'Oslo' })).toMatchObject({
      structuredContent,
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    })
  },
  async 'receives structured output that is not an object, if the revision has it'(peer) {
    await peer.list('tools')
    const result = await peer.call('numbers')
    expect(result).toMatchObject(text('[1,2,3]'))
    expect(result['structuredContent']).toEqual(isModern(peer) ? [1, 2, 3] : undefined)
  },
  async 'receives the failure of a tool as a result'(peer) {
    expect(await peer.call('refuse')).toMatchObject({ ...text('Only 3 seats are left'), isError: true })
  },
  async 'learns nothing of a crash except a reference'(peer) {
    const result = await peer.call('crash')
    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).toMatch(/Tool execution failed: crash\. Reference: [\w-]+/)
    expect(JSON.stringify(result)).not.toContain('hunter2')
  },
  async 'receives no output that violates its own schema'(peer) {
    const result = await peer.call('broken_promise')
    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).not.toContain('internal detail')
  },
  async 'receives refused arguments as a result that the model can fix'(peer) {
    expect(await peer.call('say', { text: '' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Use 1 or more characters') }],
    })
  },
  async 'is refused an unknown tool by a protocol error'(peer) {
    await expect(peer.call('nothing')).rejects.toMatchObject({ code: -32602 })
  },
  async 'sends the headers that a tool requires'(peer) {
    // The client learns of them from the list; a value outside ASCII is sent encoded.
    await peer.list('tools')
    expect(await peer.call('route', { region: 'eu-west', hops: 2 })).toMatchObject(text('eu-west in 2'))
    expect(await peer.call('route', { region: 'Zürich' })).toMatchObject(text('Zürich in 0'))
  },
}

const following: { readonly [behaviour: string]: Behaviour } = {
  async 'receives progress'(peer) {
    const key = newKey()
    const heard: Params[] = []
    const onProgress = (progress: Params): void => {
      heard.push({ ...progress })
      if (progress['progress'] === 3) peer.call('proceed', { key }).catch(expect.unreachable)
    }
    expect(await peer.call('count', { key, to: 3 }, { onProgress })).toMatchObject(text('counted to 3'))
    expect(heard).toEqual([
      { progress: 1, total: 3, message: 'step 1' },
      { progress: 2, total: 3, message: 'step 2' },
      { progress: 3, total: 3, message: 'step 3' },
    ])
  },
  async 'receives log messages of the chosen level'(peer) {
    await peer.setLogLevel('warning')
    peer.received.clear()
    await peer.call('log')
    const levels = peer.received.all
      .filter(({ method }) => method === 'notifications/message')
      .map(({ params }) => params['level'])
    expect(levels).toEqual(['warning', 'error', 'critical', 'alert', 'emergency'])
    expect(peer.received.all[0]?.params).toMatchObject({ data: { level: 'warning' }, logger: 'everything' })
  },
  async 'comes back for an answer whose stream the server ended'(peer) {
    expect(await peer.call('detour')).toMatchObject(text('arrived'))
  },
  async 'cancels a call, and the tool is notified'(peer) {
    const key = newKey()
    const abort = new AbortController()
    const call = peer.call(
      'slow',
      { key },
      { signal: abort.signal, onProgress: () => abort.abort(new Error('enough')) },
    )
    await expect(call).rejects.toThrow()
    expect(await peer.call('ended', { key })).toMatchObject(text(`aborted ${key}`))
  },
}

const answering: { readonly [behaviour: string]: Behaviour } = {
  async 'fills in a form'(peer) {
    let asked: Params = {}
    peer.answers.elicit = (params) => {
      asked = params
      return { action: 'accept', content: { seats: 3, meal: 'soup', window: false } }
    }
    expect(await peer.call('book')).toMatchObject(text('3 seats, soup, window: false'))
    expect(asked).toMatchObject({
      mode: 'form',
      message: 'Which trip?',
      requestedSchema: {
        type: 'object',
        properties: {
          seats: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
          meal: { type: 'string', enum: ['soup', 'salad'] },
          window: { type: 'boolean', default: true },
        },
      },
    })
  },
  async 'declines a form'(peer) {
    peer.answers.elicit = () => ({ action: 'decline' })
    expect(await peer.call('book')).toMatchObject({ ...text('The person declined.'), isError: true })
  },
  async 'closes a form without an answer'(peer) {
    peer.answers.elicit = () => ({ action: 'cancel' })
    expect(await peer.call('book')).toMatchObject({ ...text('The person cancelled.'), isError: true })
  },
  async 'opens a page'(peer) {
    let asked: Params = {}
    peer.answers.elicit = (params) => {
      asked = params
      return { action: 'accept' }
    }
    expect(await peer.call('open_page')).toMatchObject(text('opened: true'))
    expect(asked).toMatchObject({ mode: 'url', url: 'https://example.com/terms', message: 'Read the terms' })
  },
  async 'finishes something on a page before the tool runs'(peer) {
    const key = newKey()
    const finish = (): Promise<Params> => peer.call('finish_signing', { key })
    peer.answers.elicit = async () => {
      await finish()
      return { action: 'accept' }
    }
    const once = peer.call('sign', { key })
    if (isModern(peer) || peer.opensPages) expect(await once).toMatchObject(text(`signed ${key}`))
    else {
      // 2025-11-25 is told to come back, by a specific error.
      const elicitations = [{ mode: 'url', url: `https://example.com/sign/${key}`, elicitationId: `contract-${key}` }]
      await expect(once).rejects.toMatchObject({ code: -32042, data: { elicitations } })
      await finish()
      expect(await peer.call('sign', { key })).toMatchObject(text(`signed ${key}`))
    }
  },
  async 'asks its model for the server'(peer) {
    let asked: Params = {}
    peer.answers.sample = (params) => {
      asked = params
      return { role: 'assistant', model: 'a-model', content: { type: 'text', text: 'In short' } }
    }
    expect(await peer.call('summarize', { text: 'A long story' })).toMatchObject(
      text('a-model: {"type":"text","text":"In short"}'),
    )
    expect(asked).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'A long story' } }],
      maxTokens: 50,
      systemPrompt: 'Be brief',
    })
  },
  async 'names its roots'(peer) {
    peer.answers.roots = () => [{ uri: 'file:///a', name: 'a' }, { uri: 'file:///b' }]
    expect(await peer.call('folders')).toMatchObject(text('file:///a file:///b'))
  },
  async 'answers round after round, and the tool runs once'(peer) {
    const key = newKey()
    const asked: unknown[] = []
    peer.answers.elicit = ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: asked.length === 1 ? { city: 'Oslo' } : { day: 'Monday' } }
    }
    expect(await peer.call('plan', { key })).toMatchObject(text('Oslo on Monday, run 1'))
    expect(asked).toEqual(['Where to?', 'When to {"city":"Oslo"}?'])
    expect(await peer.call('runs', { key })).toMatchObject(text('1'))
  },
}

const reading: { readonly [behaviour: string]: Behaviour } = {
  async 'lists resources, also those of a template, and templates'(peer) {
    const resources = await peer.list('resources')
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['note://text', 'note://bytes', 'note://2026/hello', 'note://2026/world']),
    )
    expect(resources[0]).toMatchObject({
      title: 'A text',
      mimeType: 'text/plain',
      size: 5,
      annotations,
      icons,
      _meta: meta,
    })
    expect(await peer.list('templates')).toMatchObject([
      { uriTemplate: 'note://{year}/{slug}', title: 'Notes by year' },
    ])
  },
  async "reads text, bytes and a template's resource"(peer) {
    expect(await peer.read('note://text')).toMatchObject({
      contents: [{ uri: 'note://text', mimeType: 'text/plain', text: 'Words', _meta: meta }],
    })
    expect(await peer.read('note://bytes')).toMatchObject({
      contents: [{ uri: 'note://bytes', mimeType: 'image/png', blob: base64 }],
    })
    expect(await peer.read('note://2026/world')).toMatchObject({
      contents: [{ uri: 'note://2026/world', text: 'World' }],
    })
  },
  async 'is told which resource does not exist'(peer) {
    for (const uri of ['note://nowhere', 'note://gone', 'note://2026/nothing'])
      await expect(peer.read(uri)).rejects.toMatchObject({ code: peer.notFoundCode, data: { uri } })
  },
  async 'is asked before it reads'(peer) {
    peer.answers.elicit = () => ({ action: 'accept', content: { word: 'sesame' } })
    expect(await peer.read('note://locked')).toMatchObject({ contents: [{ text: 'Opened by sesame' }] })
  },
  async 'lists and gets prompts'(peer) {
    const [greet, ...others] = await peer.list('prompts')
    expect(greet).toMatchObject({
      name: 'greet',
      title: 'Greeting',
      arguments: [
        { name: 'name', description: 'Who', required: true },
        { name: 'tone', required: false },
      ],
      icons,
      _meta: meta,
    })
    expect(namesOf(others)).toEqual(['media', 'short'])
    expect(await peer.getPrompt('greet', { name: 'Ada', tone: 'warm' })).toMatchObject({
      description: 'Greets somebody',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Greet Ada, warm' } },
        { role: 'assistant', content: { type: 'text', text: 'Gladly' } },
      ],
    })
    expect(await peer.getPrompt('media')).toMatchObject({ messages: { length: 6 } })
  },
  async 'is refused a prompt without its argument, and an unknown one'(peer) {
    await expect(peer.getPrompt('greet')).rejects.toMatchObject({ code: -32602 })
    await expect(peer.getPrompt('nothing')).rejects.toMatchObject({ code: -32602 })
  },
  async 'completes arguments of prompts and templates'(peer) {
    const greet = { type: 'ref/prompt', name: 'greet' } as const
    expect(await peer.complete(greet, { name: 'tone', value: 'f' })).toEqual({
      values: ['formal', 'friendly', 'funny'],
      total: 3,
      hasMore: false,
    })
    expect(await peer.complete(greet, { name: 'tone', value: 'f' }, { name: 'the king' })).toMatchObject({
      values: ['formal'],
    })
    const notes = { type: 'ref/resource', uri: 'note://{year}/{slug}' } as const
    expect(await peer.complete(notes, { name: 'slug', value: 'hel' })).toMatchObject({ values: ['hello', 'help'] })
    expect(await peer.complete(notes, { name: 'slug', value: '' }, { year: '2024' })).toMatchObject({ values: ['old'] })
  },
}

const subscribing: { readonly [behaviour: string]: Behaviour } = {
  async 'is notified of the resources it subscribed to, and of no others'(peer) {
    peer.received.clear()
    const watch = await peer.subscribe({ uris: ['note://watched'] })
    await peer.call('touch', { uri: 'note://text' })
    await peer.call('touch', { uri: 'note://watched' })
    await peer.received.next(({ method }) => method === 'notifications/resources/updated')
    expect(peer.received.all.map(({ method, params }) => [method, params['uri']])).toEqual([
      ['notifications/resources/updated', 'note://watched'],
    ])
    await watch.stop()
    peer.received.clear()
    // A later notification shows that an earlier one did not come.
    const other = await peer.subscribe({ uris: ['note://text'] })
    await peer.call('touch', { uri: 'note://watched' })
    await peer.call('touch', { uri: 'note://text' })
    await peer.received.next(({ params }) => params['uri'] === 'note://text')
    expect(peer.received.all.map(({ params }) => params['uri'])).toEqual(['note://text'])
    await other.stop()
  },
  async 'is notified once that a list changed, and lists it anew'(peer) {
    peer.received.clear()
    const watch = await peer.subscribe({ lists: ['tools', 'prompts', 'resources'] })
    for (const list of ['tools', 'prompts', 'resources'] as const) {
      const before = namesOf(await peer.list(list))
      await peer.call('change', { list })
      await peer.received.next(({ method }) => method === `notifications/${list}/list_changed`)
      expect(namesOf(await peer.list(list))).toEqual(
        before.includes('passing')
          ? before.filter((name) => name !== 'passing')
          : expect.arrayContaining([...before, 'passing']),
      )
    }
    expect(peer.received.all.map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ])
    await watch.stop()
  },
}

export const behaviours: { readonly [behaviour: string]: Behaviour } = {
  ...meeting,
  ...calling,
  ...following,
  ...answering,
  ...reading,
  ...subscribing,
}
