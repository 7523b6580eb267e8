import { expect, test } from 'vitest'
import { jsonSchema } from './index.ts'
import { messageFor } from './messages.ts'

const validatorOf = (schema: object | boolean) => (value: unknown) =>
  jsonSchema(schema)['~standard'].validate(value).issues

test('messages say what is required and never quote the value', () => {
  const findIssues = validatorOf({
    properties: {
      name: { type: 'string', minLength: 2 },
      size: { type: ['integer', 'null'], minimum: 1 },
      unit: { enum: ['m', 'kg'] },
      when: { anyOf: [{ format: 'date' }, { const: 'now' }] },
    },
    required: ['id'],
  })
  const secret = 'hunter2'
  const issues = findIssues({ name: 1, size: 0, unit: secret, when: secret })
  expect(issues?.map(({ path, message }) => `${path?.join('.')} ${message}`).sort()).toEqual([
    'id is required',
    'name must be a string',
    'size must be at least 1',
    'unit must be one of "m", "kg"',
    'when must be in the format "date" or must be "now"',
  ])
})

test.each([
  ['type', ['integer', 'null', 'array'], 'must be an integer or null or an array'],
  ['const', ['a'], 'must be ["a"]'],
  ['enum', ['a', 1], 'must be one of "a", 1'],
  ['pattern', '^a$', 'must match the pattern ^a$'],
])('the message of %s %j says what is required', (keyword, argument, sentence) => {
  expect(messageFor(keyword, argument)).toBe(sentence)
})

test('a long list is truncated', () => {
  expect(messageFor('enum', Array(1_000).fill('a')).length).toBeLessThan(510)
})
