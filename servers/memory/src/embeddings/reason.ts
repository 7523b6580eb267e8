/** What kept us from vectors, as a sentence; what is not about vectors is thrown on. */

import { WrongLength } from '../archive.ts'
import { Away } from './request.ts'

export function reasonOf(thrown: unknown, model: string): string {
  if (thrown instanceof Away) return `The embedding service is of no use now: ${thrown.message}.`
  if (thrown instanceof WrongLength)
    return `The embedding service gave vectors of ${thrown.given} numbers, but ${thrown.kept} are kept: is ${model} still the same model?`
  throw thrown
}
