import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { jsonSchema } from '../json-schema/index.ts'
import { projectTool } from './project.ts'
import { revisions } from './revisions.ts'
import { tool } from './tools.ts'

const schema = jsonSchema<object>({ type: 'object', properties: { any: true, none: false, text: { type: 'string' } } })
const { entry } = tool({
  name: 'echo',
  description: 'Returns its input',
  input: schema,
  output: schema,
  run: (input) => input,
})
const list = (name: keyof typeof revisions) => ({ tools: [projectTool({ ...entry }, revisions[name])] })

test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const)(
  'a list of %s has no property that is true or false, which earlier clients refuse',
  (name) => {
    expect(ListToolsResultSchema.safeParse(list(name)).error).toBeUndefined()
    expect(list(name).tools[0]?.['inputSchema']).toEqual({
      type: 'object',
      properties: { any: {}, none: { not: {} }, text: { type: 'string' } },
    })
  },
)
