/** What kept us from vectors, as a sentence; what is not about vectors is thrown on. */

import { VectorLengthMismatch } from '../archive.ts'
import { EmbeddingsUnavailable } from './request.ts'

export function reasonOf(thrown: unknown, model: string): string {
  if (thrown instanceof EmbeddingsUnavailable) return `The embedding service is of no use now: ${thrown.message}.`
  if (thrown instanceof VectorLengthMismatch)
    return `The embedding service gave vectors of ${thrown.actual} numbers, but ${thrown.expected} are kept: is ${model} still the same model?`
  throw thrown
}
