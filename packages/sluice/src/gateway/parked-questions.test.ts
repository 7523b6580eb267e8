import { expect, test } from 'vitest'
import { aCall } from '../testing/call.ts'
import { parkedQuestions } from './parked-questions.ts'

test('a form with an invalid schema is refused: the client is not asked, and the call ends with the reason', async () => {
  let asked = 0
  const park = {
    async ask() {
      asked++
      return {}
    },
  }
  const call = aCall({ park, capabilities: { elicitation: { form: {} } } })
  const questions = parkedQuestions(call, {}, { name: 'notes', roots: undefined, record: async () => async () => {} })
  const requestedSchema = { type: 'object', properties: { name: { type: 'string', pattern: '(' } } }
  const context = { signal: new AbortController().signal, method: 'tools/call' }
  const refusal = { message: expect.stringMatching(/^notes asks with a form whose schema is invalid: /) }
  await expect(questions?.form({ message: 'Who?', requestedSchema }, context)).rejects.toMatchObject(refusal)
  expect(questions?.refusal).toMatchObject(refusal)
  expect(asked).toBe(0)
})
