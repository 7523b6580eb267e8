/**
 * Checks a client's answer to a question of an upstream before it goes there. A refusal of the person is an answer too:
 * the upstream decides what it means.
 */

import type { Json, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { AcceptedAnswer, Question } from '../core/target.ts'
import { jsonSchema } from '../json-schema/index.ts'

type Accept = Question['accept']

/** Accepts a form whose content fits the schema, an opened page, or a refusal. Throws if the schema is invalid. */
export function acceptForm(schema: Params | undefined): Accept {
  const fits = schema && checkerOf(schema)
  return (answer) => {
    const { action, content } = isObject(answer) ? answer : {}
    if (action === 'decline' || action === 'cancel') return { value: { action } }
    if (action !== 'accept') return undefined
    if (!fits) return { value: { action } }
    return fits(content ?? {}) ? { value: { action, content: (content ?? {}) as Json } } : undefined
  }
}

function checkerOf(schema: Params): (content: unknown) => boolean {
  const { validate } = jsonSchema(schema)['~standard']
  const fits = (content: unknown): boolean => validate(content).issues === undefined
  // A mistake in the schema is thrown at first use. It must be found before a person fills in the form.
  fits({})
  return fits
}

export const acceptSample: Accept = (answer): AcceptedAnswer | undefined =>
  isObject(answer) && typeof answer['role'] === 'string' && answer['content'] !== undefined
    ? { value: answer as Json }
    : undefined

export const acceptRoots: Accept = (answer): AcceptedAnswer | undefined =>
  isObject(answer) && Array.isArray(answer['roots']) ? { value: answer as Json } : undefined
