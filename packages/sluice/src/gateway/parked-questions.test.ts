import { expect, test } from 'vitest'
import type { Params } from '../core/json.ts'
import { aCall } from '../testing/call.ts'
import type { ParkedQuestions } from './parked-questions.ts'
import { parkedQuestions } from './parked-questions.ts'

const context = { signal: new AbortController().signal, method: 'tools/call' }
const question = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }

/** The questions of a call whose client answers with `ask`. */
function questionsOf(ask: () => Promise<Params>): ParkedQuestions {
  const call = aCall({ park: { ask }, capabilities: { elicitation: { form: {} } } })
  const questions = parkedQuestions(call, {}, { name: 'notes', roots: undefined, record: async () => async () => {} })
  if (!questions) throw new Error('The call can wait')
  return questions
}
const accept = async (): Promise<Params> => ({ elicitation: { action: 'accept', content: {} } })

test('a server that asks again and again in one call is given up', async () => {
  const questions = questionsOf(accept)
  for (let round = 0; round < 10; round++)
    expect(await questions.form(question, context)).toMatchObject({ action: 'accept' })
  const refusal = { message: 'notes asks again and again; the call was given up' }
  await expect(questions.form(question, context)).rejects.toMatchObject(refusal)
  expect(questions.refusal).toMatchObject(refusal)
})

test('questions at once are one round, and no more than 16', async () => {
  const answer = Promise.withResolvers<Params>()
  let asked = 0
  const questions = questionsOf(() => {
    asked++
    return answer.promise
  })
  const open = Array.from({ length: 16 }, () => questions.form(question, context))
  const refusal = { message: 'notes asks too much at once' }
  await expect(questions.form(question, context)).rejects.toMatchObject(refusal)
  answer.resolve(await accept())
  for (const each of await Promise.all(open)) expect(each).toMatchObject({ action: 'accept' })
  expect(asked).toBe(16)
})

test('a question that is too long for the store is refused, and the client is not asked', async () => {
  const questions = questionsOf(() => Promise.reject(new Error('It was asked')))
  const long = { ...question, message: 'x'.repeat(256 * 1024) }
  await expect(questions.form(long, context)).rejects.toMatchObject({ message: 'notes asks too much at once' })
})

test('a form with an invalid schema is refused: the client is not asked, and the call ends with the reason', async () => {
  const questions = questionsOf(() => Promise.reject(new Error('It was asked')))
  const requestedSchema = { type: 'object', properties: { name: { type: 'string', pattern: '(' } } }
  const refusal = { message: expect.stringMatching(/^notes asks with a form whose schema is invalid: /) }
  await expect(questions.form({ message: 'Who?', requestedSchema }, context)).rejects.toMatchObject(refusal)
  expect(questions.refusal).toMatchObject(refusal)
})
