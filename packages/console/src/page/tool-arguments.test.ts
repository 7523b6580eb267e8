/** The form for a tool's arguments: which fields a schema gives, and which arguments the fields give. */

import { expect, test } from 'vitest'
import { fieldsOf, readArguments, readJson } from './tool-arguments.ts'

const schema = {
  type: 'object',
  required: ['title', 'count', 'level'],
  properties: {
    title: { type: 'string', description: 'What it is called' },
    count: { type: 'integer' },
    share: { type: 'number' },
    level: { enum: ['low', 2, null] },
    loud: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    any: {},
  },
}
const fields = fieldsOf(schema) ?? []

test('a schema gives a field for each property', () => {
  expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['title', 'text', true],
    ['count', 'integer', true],
    ['share', 'number', false],
    ['level', 'choice', true],
    ['loud', 'boolean', false],
    ['tags', 'json', false],
    ['any', 'json', false],
  ])
  expect(fields[0]?.description).toBe('What it is called')
  expect(fields[3]?.choices).toEqual(['"low"', '2', 'null'])
})

test.each([[undefined], [true], [{ type: 'object' }], [{ anyOf: [{}] }]])('%j gives no fields', (input) => {
  expect(fieldsOf(input)).toBeUndefined()
})

test('the texts become arguments, and empty optional ones are left out', () => {
  const texts = { title: '', count: ' 3 ', share: '0.5', level: '2', loud: 'false', tags: '["a"]', any: '' }
  expect(readArguments(fields, texts)).toEqual({
    args: { title: '', count: 3, share: 0.5, level: 2, loud: false, tags: ['a'] },
    problems: {},
  })
})

test('each text that cannot be an argument has its problem', () => {
  const { problems } = readArguments(fields, { count: '1.5', share: 'much', tags: '[', loud: '' })
  expect(problems).toMatchObject({
    count: 'This is not a whole number.',
    share: 'This is not a number.',
    level: 'This field is required.',
    tags: expect.stringContaining('This is not JSON'),
  })
  expect(Object.keys(problems)).toHaveLength(4)
})

test('all arguments can be typed as JSON', () => {
  expect(readJson('{"a":[1]}')).toEqual({ a: [1] })
  expect(readJson('[1]')).toContain('JSON object')
  expect(readJson('{')).toContain('This is not JSON')
})
