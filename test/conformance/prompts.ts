/** The suite's prompts. */

import type { Prompt } from 'sluice'
import { ask, prompt } from 'sluice'
import { z } from 'zod'
import { png } from './contents.ts'

const inContext = z.object({ context: z.string() })
const suggestions = ['paris', 'park', 'party', 'test', 'testing']

export const prompts: readonly Prompt[] = [
  prompt({
    name: 'test_simple_prompt',
    description: 'A prompt without arguments',
    run: () => 'This is a simple prompt for testing.',
  }),
  prompt({
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two arguments',
    input: z.object({
      arg1: z.string().meta({ description: 'First test argument' }),
      arg2: z.string().meta({ description: 'Second test argument' }),
    }),
    complete: { arg1: (typed) => suggestions.filter((suggestion) => suggestion.startsWith(typed)) },
    run: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  }),
  prompt({
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource inside',
    input: z.object({ resourceUri: z.string().meta({ description: 'URI of the resource to embed' }) }),
    run: ({ resourceUri }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
      },
      { role: 'user', content: 'Please process the embedded resource above.' },
    ],
  }),
  prompt({
    name: 'test_prompt_with_image',
    description: 'A prompt with an image',
    run: () => [
      { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
      { role: 'user', content: 'Please analyze the image above.' },
    ],
  }),
  prompt({
    name: 'test_input_required_result_prompt',
    description: 'A prompt that asks the person first',
    ask: () => ({ user_context: ask.form('What context should the prompt use?', inContext) }),
    run: (_input, { answers }) => `Answer in this context: ${answers.user_context.context}`,
  }),
]
