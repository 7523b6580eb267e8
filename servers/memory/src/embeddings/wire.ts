/** The protocols of embedding services: Ollama's own API, and the OpenAI API that most others support too. */

export interface Wire {
  /** Appended to the service's address. */
  readonly path: string
  request(model: string, texts: readonly string[]): object
  /** The caller checks that the result is a list of lists of numbers. */
  vectors(answer: unknown): unknown
}

/** https://docs.ollama.com/api/embed */
const ollama: Wire = {
  path: '/api/embed',
  request: (model, input) => ({ model, input }),
  vectors: (answer) => field(answer, 'embeddings'),
}

/** https://platform.openai.com/docs/api-reference/embeddings */
const openai: Wire = {
  path: '/embeddings',
  request: (model, input) => ({ model, input, encoding_format: 'float' }),
  vectors(answer) {
    const data = field(answer, 'data')
    if (!Array.isArray(data)) return undefined
    // Sorted by `index`, because the API allows any order.
    return [...data]
      .sort((a, b) => Number(field(a, 'index') ?? 0) - Number(field(b, 'index') ?? 0))
      .map((entry) => field(entry, 'embedding'))
  },
}

export const wires = { ollama, openai } as const

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? (value as Record<string, unknown>)[name] : undefined

/** Returns one usable vector per text, or a sentence about what is wrong with the answer. */
export function parseVectors(found: unknown, texts: number): readonly Float32Array[] | string {
  if (!Array.isArray(found)) return 'its answer contains no vectors'
  if (found.length !== texts) return `it returned ${found.length} vectors for ${texts} texts`
  const vectors: Float32Array[] = []
  for (const numbers of found) {
    if (!Array.isArray(numbers) || numbers.length === 0 || numbers.length > 16_384)
      return 'one of its vectors is not a vector'
    const vector = Float32Array.from(numbers, Number)
    if (!vector.every(Number.isFinite)) return 'one of its vectors contains something that is not a number'
    if (vector.every((value) => value === 0)) return 'one of its vectors is zero'
    if (vector.length !== (vectors[0] ?? vector).length) return 'its vectors differ in length'
    vectors.push(vector)
  }
  return vectors
}
