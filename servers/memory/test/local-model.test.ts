/** Search by meaning with the model that comes as an npm package: no service, no network. */

import { nodeClock } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'
import { localModel } from '../src/embeddings/local-model.ts'
import { openMemory } from './server.fixture.ts'

const slowTest = { timeout: 60_000 }

function aModel(): ReturnType<typeof localModel> {
  const model = localModel(nodeClock)
  onTestFinished(() => model.close())
  return model
}

test('memories are found by what they mean, and unrelated ones are not', slowTest, async () => {
  const memory = await openMemory({ env: { SLUICE_MEMORY_EMBEDDINGS: 'local' } })
  await memory.add('Carla is afraid of spiders.')
  await memory.add('The kitten sleeps on the sofa.')
  await memory.add('Ben purchased an automobile last week.')
  const found = await memory.call('search_memory', { query: 'Who bought a car?' })
  expect(found.structuredContent).toMatchObject({
    mode: 'hybrid',
    results: [{ text: 'Ben purchased an automobile last week.', found_by: ['meaning'] }],
  })
  expect(found.structuredContent.results[0].similarity).toBeGreaterThan(0.3)
  expect(await memory.search('a cat on a couch')).toEqual(['The kitten sleeps on the sofa.'])
  expect((await memory.call('get_stats')).structuredContent).toMatchObject({
    ...{ embedded_chunks: 3, embedding_model: 'universal-sentence-encoder-lite' },
  })
})

test('a query is answered between the texts of a batch, not after it', slowTest, async () => {
  const model = aModel()
  const order: string[] = []
  const batch = model.vectors(
    Array.from({ length: 6 }, (_, n) => `Chunk number ${n} of a long text`),
    60_000,
  )
  const query = model.vectors(['a question'], 60_000)
  await Promise.all([batch.then(() => order.push('batch')), query.then(() => order.push('query'))])
  expect(order).toEqual(['query', 'batch'])
})

test('a closed model says so, and a text takes no longer than the caller waits', slowTest, async () => {
  const model = localModel({ ...nodeClock, after: (_, then) => nodeClock.after(0, then) })
  onTestFinished(() => model.close())
  await expect(model.vectors(['a text'], 1)).rejects.toThrow('the model did not answer in time')
  await model.close()
  await expect(model.vectors(['a text'], 1)).rejects.toThrow('it is closed')
})
