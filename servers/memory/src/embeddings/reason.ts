/** Explains as a sentence why there are no vectors. Throws errors that are not about vectors. */

import { VectorLengthMismatch } from '../archive.ts'
import { EmbeddingsUnavailable } from './request.ts'

export function reasonOf(thrown: unknown, model: string): string {
  if (thrown instanceof EmbeddingsUnavailable) return `The embedding service is unavailable: ${thrown.message}.`
  if (thrown instanceof VectorLengthMismatch)
    return `The embedding service returned vectors of ${thrown.actual} numbers, but the stored ones have ${thrown.expected}: is ${model} still the same model?`
  throw thrown
}
