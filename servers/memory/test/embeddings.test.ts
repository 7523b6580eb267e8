/**
 * With an embedding service, meaning is found; whatever the service does, nothing is lost and every call is answered.
 */

import { fakeClock } from 'sluice/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EmbeddingServer } from '../../../test/kit/processes/embedding-service.ts'
import { startEmbeddings } from '../../../test/kit/processes/embedding-service.ts'
import { createEmbedder } from '../src/embeddings/embedder.ts'
import type { EmbeddingService } from '../src/embeddings/request.ts'
import { serviceModel } from '../src/embeddings/request.ts'
import { embeddingService } from '../src/embeddings/settings.ts'
import { parseVectors, wires } from '../src/embeddings/wire.ts'
import type { Answer, OpenedMemory, OpenOptions } from './server.fixture.ts'
import { noon, openMemory, textOf } from './server.fixture.ts'

let service: EmbeddingServer
let inFlight = 0
let hangs = false
beforeEach(async () => {
  service = await startEmbeddings()
  inFlight = 0
  hangs = false
  const real = fetch
  vi.stubGlobal('fetch', async (...asked: Parameters<typeof fetch>) => {
    inFlight++
    try {
      const response = await real(...asked)
      return new Response(await response.arrayBuffer(), response)
    } finally {
      inFlight--
    }
  })
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await service.stop()
})

const ollama = (): Record<string, string> => ({
  SLUICE_MEMORY_EMBEDDINGS: 'ollama',
  SLUICE_MEMORY_EMBEDDINGS_URL: service.url,
})
const openWith = (more: OpenOptions = {}): Promise<OpenedMemory> => openMemory({ env: ollama(), ...more })

/**
 * Waits for a call while the fake clock advances. Time stands still while the service or the archive works, however
 * slow this machine is. It advances while they are idle, and while the service hangs, a little at a time: other threads
 * may still work.
 */
async function eventually<T>(memory: OpenedMemory, work: Promise<T>): Promise<T> {
  let done = false
  const finish = (): void => {
    done = true
  }
  work.then(finish, finish)
  while (!done) {
    // The archive answers in order, so its thread has finished the earlier requests.
    await memory.call('list_workspaces')
    if (inFlight === 0 || hangs) await memory.clock.advance(20)
  }
  return work
}

test.each([
  ['Ollama', (): Record<string, string> => ollama()],
  [
    'an OpenAI-compatible service',
    (): Record<string, string> => ({
      SLUICE_MEMORY_EMBEDDINGS: 'openai',
      SLUICE_MEMORY_EMBEDDINGS_URL: `${service.url}/v1`,
      SLUICE_MEMORY_EMBEDDINGS_MODEL: 'text-embedding-3-small',
      SLUICE_MEMORY_EMBEDDINGS_KEY: 'sk-test',
    }),
  ],
])('with %s a memory is found by its meaning', async (_, env) => {
  const memory = await openMemory({ env: env() })
  await memory.add('Anna purchased an automobile yesterday.')
  await memory.add('The kitten sleeps on the sofa.')
  const answer = await memory.call('search_memory', { query: 'who did buy a vehicle?' })
  expect(answer.structuredContent).toMatchObject({ mode: 'hybrid' })
  expect(answer.structuredContent.results[0].text).toBe('Anna purchased an automobile yesterday.')
  expect(textOf(answer)).not.toContain('Note:')
  expect((await memory.search('feline'))[0]).toBe('The kitten sleeps on the sofa.')
  if (service.authorization) expect(service.authorization).toBe('Bearer sk-test')
  expect(await memory.text('get_stats')).toContain('Embedded Chunks: 2')
})

test('words and meaning count together: a hit of both comes first', async () => {
  const memory = await openWith()
  await memory.add('The budget meeting is on Monday.')
  await memory.add('An appointment about funds is on Tuesday.')
  await memory.add('Lunch is at noon.')
  expect((await memory.search('budget meeting')).slice(0, 2)).toEqual([
    'The budget meeting is on Monday.',
    'An appointment about funds is on Tuesday.',
  ])
})

test('filters also apply to the search by meaning', async () => {
  const memory = await openWith()
  for (let n = 0; n < 80; n++) await memory.add(`automobile number ${n}`, { tags: ['many'] })
  await memory.add('a car of another kind, rarely thought of', { tags: ['one'] })
  expect(await memory.search('vehicle', { filters: { tags: ['one'] } })).toEqual([
    'a car of another kind, rarely thought of',
  ])
})

test('the same text is embedded once, and texts stored together are embedded together', async () => {
  const memory = await openWith()
  const lines = Array.from({ length: 100 }, (_, n) => JSON.stringify({ type: 'memory', text: `fact ${n}` })).join('\n')
  await memory.call('import_memories', { jsonl: lines })
  expect(service.requests.map(({ length }) => length)).toEqual([64, 36])
  await memory.search('fact')
  await memory.search('fact')
  await memory.add('fact 7')
  expect(service.requests.slice(2)).toEqual([['fact']])
  expect((await memory.call('get_stats')).structuredContent.cache_hit_rate).toBeGreaterThan(0)
})

test('an unavailable service: memories are stored and found by words, with a note, and embedded when it is back', async () => {
  service.behave({ status: 503 })
  const memory = await openWith()
  const stored = await eventually(memory, memory.call('add_memory', { text: 'Anna purchased an automobile.' }))
  expect(stored.isError).toBe(false)
  expect(textOf(stored)).toMatch(
    /^Memory stored successfully\.\nID: .+\nChunks created: 1\nNote: The embedding service is unavailable: it answers with status 503\. Until then it is found by its words\.$/,
  )
  const found = await eventually(memory, memory.call('search_memory', { query: 'automobile' }))
  expect(found.structuredContent).toMatchObject({ mode: 'text', count: 1 })
  expect(textOf(found)).toContain(
    'Note: The embedding service is unavailable: it answers with status 503. Searched by words only.',
  )
  service.behave('well')
  await eventually(memory, backTo(memory, 1))
  expect((await memory.search('vehicle'))[0]).toBe('Anna purchased an automobile.')
})

async function backTo(memory: OpenedMemory, embedded: number): Promise<void> {
  for (let tries = 0; tries < 100_000; tries++) {
    if ((await memory.call('get_stats')).structuredContent.embedded_chunks === embedded) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error('not embedded')
}

test('a hanging service delays the first callers by five seconds and the next ones not at all', async () => {
  service.behave('hang')
  hangs = true
  const memory = await openWith()
  const stored: Answer = await eventually(memory, memory.call('add_memory', { text: 'Anna bought a car' }))
  expect(textOf(stored)).toMatch(
    /^Memory stored successfully\.\nID: .+\nChunks created: 1\nNote: Embedding takes longer/,
  )
  const found = await eventually(memory, memory.call('search_memory', { query: 'anna' }))
  expect(textOf(found)).toContain('it did not answer within 5 s. Searched by words only.')
  const before = memory.clock.now()
  expect(await memory.text('search_memory', { query: 'car' })).toContain('Searched by words only.')
  expect(memory.clock.now()).toBe(before)
})

test('a temporary failure is retried within the same call', async () => {
  const memory = await openWith()
  service.behave({ status: 429, times: 2 })
  const stored = await eventually(memory, memory.call('add_memory', { text: 'Anna bought a car' }))
  expect(textOf(stored)).not.toContain('Note:')
  expect(service.requests).toHaveLength(3)
})

test('vectors of another length are refused, and words still find everything', async () => {
  const memory = await openWith()
  await memory.add('Anna bought a car')
  service.behave({ length: 768 })
  const stored = await eventually(memory, memory.call('add_memory', { text: 'Ben sold a ship' }))
  const complaint =
    'The embedding service returned vectors of 768 numbers, but the stored ones have 384: is nomic-embed-text still the same model?'
  expect(textOf(stored)).toContain(`Note: ${complaint}`)
  const found = await eventually(memory, memory.call('search_memory', { query: 'ship' }))
  expect(textOf(found)).toContain(complaint)
  expect(found.structuredContent.results[0].text).toBe('Ben sold a ship')
})

test('after a change of the model, stored memories are embedded again', async () => {
  const first = await openWith()
  await first.add('Anna bought a car')
  await first.close()
  const second = await openMemory({
    folder: first.folder,
    env: { ...ollama(), SLUICE_MEMORY_EMBEDDINGS_MODEL: 'another' },
  })
  await eventually(second, backTo(second, 1))
  expect((await second.search('vehicle'))[0]).toBe('Anna bought a car')
})

test('memories stored without a service are embedded once there is one; without it again, words find everything', async () => {
  const before = await openMemory()
  await before.add('Anna bought a car')
  await before.close()
  const withService = await openWith({ folder: before.folder })
  await eventually(withService, backTo(withService, 1))
  expect((await withService.search('vehicle'))[0]).toBe('Anna bought a car')
  await withService.close()
  const after = await openMemory({ folder: before.folder })
  expect(await after.search('vehicle')).toEqual([])
  expect(await after.search('car')).toEqual(['Anna bought a car'])
})

test('one rejected text does not block the others', async () => {
  service.behave({ refuses: 'poison' })
  const memory = await openWith()
  const lines = ['a car', 'poison', 'a ship'].map((text) => JSON.stringify({ type: 'memory', text })).join('\n')
  const answer = await eventually(memory, memory.call('import_memories', { jsonl: lines }))
  expect(textOf(answer)).not.toContain('Note:')
  expect((await memory.call('get_stats')).structuredContent).toMatchObject({ total_chunks: 3, embedded_chunks: 2 })
  expect((await memory.search('vessel'))[0]).toBe('a ship')
})

test('a service that rejects everything marks no chunk; when it accepts texts again, all of them get vectors', async () => {
  service.behave({ status: 400 })
  const memory = await openWith()
  const stored = await eventually(memory, memory.call('add_memory', { text: 'Anna bought a car' }))
  expect(textOf(stored)).toContain('it answers with status 400 for any text')
  const lines = ['a ship', 'a house'].map((text) => JSON.stringify({ type: 'memory', text })).join('\n')
  await eventually(memory, memory.call('import_memories', { jsonl: lines }))
  expect((await memory.call('get_stats')).structuredContent).toMatchObject({ total_chunks: 3, embedded_chunks: 0 })
  service.behave('well')
  await eventually(memory, backTo(memory, 3))
  expect((await memory.search('vessel'))[0]).toBe('a ship')
})

test('a rejected text is offered again after a restart', async () => {
  service.behave({ refuses: 'poison' })
  const memory = await openWith()
  await eventually(memory, memory.call('add_memory', { text: 'poison' }))
  await eventually(memory, memory.call('add_memory', { text: 'a ship' }))
  expect((await memory.call('get_stats')).structuredContent).toMatchObject({ total_chunks: 2, embedded_chunks: 1 })
  await memory.close()
  service.behave('well')
  const after = await openWith({ folder: memory.folder })
  await eventually(after, backTo(after, 2))
})

test.each([
  ['{', 'it cannot be reached'],
  ['null', 'its answer contains no vectors'],
  ['{"embeddings":[]}', 'it returned 0 vectors for 1 texts'],
  ['{"embeddings":[[1,"x"]]}', 'one of its vectors contains something that is not a number'],
  ['{"embeddings":[[0,0]]}', 'one of its vectors is zero'],
  ['{"embeddings":[[]]}', 'one of its vectors is not a vector'],
  ['{"embeddings":["abc"]}', 'one of its vectors is not a vector'],
])('an answer of %s is reported as not a vector', async (raw, why) => {
  service.behave({ raw })
  const memory = await openWith()
  const stored = await eventually(memory, memory.call('add_memory', { text: 'kept' }))
  expect(textOf(stored)).toContain(why)
  expect(await eventually(memory, memory.search('kept'))).toEqual(['kept'])
})

test('vectors of different lengths in one answer are refused', () => {
  expect(parseVectors([[1, 2], [1]], 2)).toBe('its vectors differ in length')
})

test('an unknown model and an invalid key are reported without a retry', async () => {
  for (const [status, why] of [
    [404, 'it does not know the model nomic-embed-text'],
    [401, 'it refuses the key'],
  ] as const) {
    service.behave({ status })
    const memory = await openWith()
    const asked = service.requests.length
    const stored = await eventually(memory, memory.call('add_memory', { text: 'kept' }))
    expect(textOf(stored)).toContain(why)
    expect(service.requests.length).toBe(asked + 1)
    await memory.close()
  }
})

test('tenants share no cache: the response time does not tell what another tenant has stored', async () => {
  const clock = fakeClock(noon)
  const settings: EmbeddingService = {
    wire: wires.ollama,
    url: service.url,
    model: 'm',
    key: undefined,
    clock,
    fetch,
    closing: new AbortController().signal,
  }
  const embedder = createEmbedder(serviceModel(settings))
  await embedder.embed('ann', ['a secret'], 5000)
  await embedder.embed('ann', ['a secret'], 5000)
  await embedder.embed('bob', ['a secret'], 5000)
  expect(service.requests).toEqual([['a secret'], ['a secret']])
})

test('contradictory settings are reported at the start', () => {
  const closing = new AbortController().signal
  const from = (env: Record<string, string>) => () => embeddingService(env, fakeClock(), closing)
  expect(from({})()).toBeUndefined()
  expect(from({ SLUICE_MEMORY_EMBEDDINGS: 'none' })()).toBeUndefined()
  expect(from({ SLUICE_MEMORY_EMBEDDINGS: 'word2vec' })).toThrow('set it to local, ollama, openai or none')
  expect(from({ SLUICE_MEMORY_EMBEDDINGS: 'openai' })).toThrow('SLUICE_MEMORY_EMBEDDINGS_URL')
  expect(from({ SLUICE_MEMORY_EMBEDDINGS: 'openai', SLUICE_MEMORY_EMBEDDINGS_URL: 'ftp://x' })).toThrow('_URL')
  expect(from({ SLUICE_MEMORY_EMBEDDINGS: 'openai', SLUICE_MEMORY_EMBEDDINGS_URL: 'https://x/v1' })).toThrow('_MODEL')
  expect(from({ SLUICE_MEMORY_EMBEDDINGS: 'ollama' })()).toMatchObject({
    url: 'http://127.0.0.1:11434',
    model: 'nomic-embed-text',
  })
})
