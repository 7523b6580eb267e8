/**
 * The memory server with embeddings: their cost, and whether both rankings together find at least what the better one
 * finds alone.
 *
 * The service is the tests' double, on this machine, with 384 numbers per vector. Its meanings are made up, so that run
 * measures the fusion of the rankings, not a model. The second run uses the real model that comes as an npm package. It
 * has fewer memories, because a text takes about 50 ms.
 */
import { localModel } from '../../../servers/memory/dist/embeddings/local-model.js'
import { serviceModel } from '../../../servers/memory/dist/embeddings/request.js'
import { wires } from '../../../servers/memory/dist/embeddings/wire.js'
import { startEmbeddings, vectorLength } from '../../../test/kit/processes/embedding-service.ts'
import { formatNumber, type Section } from '../../lib/figures.ts'
import { kinds, measureRecall, type Recall, within } from '../../lib/recall.ts'

const clock = { now: () => Date.now(), after: () => () => {} }

async function withDouble(): Promise<Recall> {
  const service = await startEmbeddings()
  const closing = new AbortController()
  try {
    const settings = {
      ...{ wire: wires.openai, url: `${service.url}/v1`, model: 'double', key: undefined },
      ...{ clock, fetch, closing: closing.signal },
    }
    return await measureRecall(serviceModel(settings), 400, 9_600)
  } finally {
    closing.abort()
    await service.stop()
  }
}

async function withLocalModel(): Promise<Recall> {
  const model = localModel(clock)
  try {
    return await measureRecall(model, 100, 900)
  } finally {
    await model.close()
  }
}

const figuresOf = ({ whole, bytesPerVector, searchP95, embeddedPerSecond }: Recall) => ({
  recall: whole,
  bytesPerVector,
  searchP95,
  embeddedPerSecond: Math.round(embeddedPerSecond),
})

export async function memoryEmbeddings(): Promise<Section> {
  const double = await withDouble()
  const local = await withLocalModel()
  const gain = ({ whole }: Recall): number => whole.hybrid - Math.max(whole.words, whole.vectors)
  const columns = ['', ...kinds, 'all']
  return {
    figures: { ...figuresOf(double), local: figuresOf(local) },
    tables: [
      {
        title: `memory with an embedding service: right answer among the first ${within}, per cent`,
        notes: [
          `${double.memories} memories, ${double.questions} questions; ${vectorLength} numbers a vector, kept as bytes`,
          'the service is a double with made-up meanings: this measures the fusion, not a model',
        ],
        columns,
        rows: double.rows,
      },
      {
        title: `memory with the local model: right answer among the first ${within}, per cent`,
        notes: [
          `${local.memories} memories, ${local.questions} questions; Universal Sentence Encoder lite, 512 numbers`,
        ],
        columns,
        rows: local.rows,
      },
      {
        title: 'memory with embeddings: what they cost',
        columns: ['', 'the double', 'the local model'],
        rows: [
          ['bytes on disk a vector', formatNumber(double.bytesPerVector), formatNumber(local.bytesPerVector)],
          [
            'embedded and stored per second',
            formatNumber(double.embeddedPerSecond),
            formatNumber(local.embeddedPerSecond),
          ],
          ['both searches, p95, ms', formatNumber(double.searchP95), formatNumber(local.searchP95)],
        ],
      },
    ],
    goals: [
      {
        figure: 'memory: hybrid recall, points above the better ranking',
        atLeast: -2,
        unit: '',
        measured: gain(double),
      },
      {
        figure: 'memory: recall with the local model, points above words alone',
        atLeast: 5,
        unit: '',
        measured: local.whole.hybrid - local.whole.words,
      },
    ],
  }
}
