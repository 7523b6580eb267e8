import { expect, test } from 'vitest'
import type { Params } from '../core/json.ts'
import { aCall } from '../testing/call.ts'
import type { ParkedQuestions } from './parked-questions.ts'
import { parkedQuestions } from './parked-questions.ts'

const context = { signal: new AbortController().signal, method: 'tools/call' }
const question = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } }

/** The questions of a call whose client answers with `ask`. */
function questionsOf(ask: () => Promise<Params>, connection = {}, subject = 'ann'): ParkedQuestions {
  const caller = { ...aCall().caller, subject }
  const call = aCall({ caller, park: { ask }, capabilities: { elicitation: { form: {} } } })
  const deps = { name: 'notes', roots: undefined, record: async () => async () => {} }
  const questions = parkedQuestions(call, {}, deps, connection)
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

test('one caller holds half of the questions of a shared connection; another caller is still asked', async () => {
  const answer = Promise.withResolvers<Params>()
  const shared = {}
  const callOf = (subject: string): ParkedQuestions => questionsOf(() => answer.promise, shared, subject)
  const sixteenOf = (questions: ParkedQuestions): Promise<Params>[] =>
    Array.from({ length: 16 }, () => questions.form(question, context))
  const open = [...sixteenOf(callOf('ann')), ...sixteenOf(callOf('ann'))]
  const refusal = { message: 'Answer the open questions of notes first: 32 of yours wait already' }
  await expect(callOf('ann').form(question, context)).rejects.toMatchObject(refusal)
  open.push(...sixteenOf(callOf('bob')), questionsOf(() => answer.promise, {}, 'ann').form(question, context))
  answer.resolve(await accept())
  for (const each of await Promise.all(open)) expect(each).toMatchObject({ action: 'accept' })
  expect(await callOf('ann').form(question, context)).toMatchObject({ action: 'accept' })
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
