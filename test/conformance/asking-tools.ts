/** The suite's tools that need an answer first: from the user, the client's model or its roots. */

import type { Ask, Tool } from 'sluice'
import { ask, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { z } from 'zod'

const named = z.object({ name: z.string() })
const colored = z.object({ color: z.string() })
const confirmed = z.object({ ok: z.boolean() })
const contact = z.object({
  username: z.string().meta({ description: "User's response" }),
  email: z.string().meta({ description: "User's email address" }),
})
const withDefaults = z.object({
  name: z.string().default('John Doe'),
  age: z.int().default(30),
  score: z.number().default(95.5),
  status: z.enum(['active', 'inactive', 'pending']).default('active'),
  verified: z.boolean().default(true),
})

const titled = (...titles: readonly string[]): readonly { const: string; title: string }[] =>
  titles.map((title, index) => ({ const: `value${index + 1}`, title }))

/** The five forms of choices (SEP-1330), one of them deprecated. */
const choices = jsonSchema({
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
  },
})

const model = (text: string, maxTokens: number): ReturnType<typeof ask.sample> =>
  ask.sample({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens })
const who = (): Ask<{ name: string }> => ask.form('What is your name?', named)
const capital = (): ReturnType<typeof ask.sample> => model('What is the capital of France?', 100)
const confirm = (): Ask<{ ok: boolean }> => ask.form('Please confirm', confirmed)

/**
 * Asked by separate requests before 2026-07-28, by `input_required` from then on; the tools do not know the difference.
 */
const direct: readonly Tool[] = [
  tool({
    name: 'test_sampling',
    description: "Asks the client's model",
    input: z.object({ prompt: z.string() }),
    ask: ({ prompt }) => ({ reply: model(prompt, 100) }),
    run: (_input, { answers }) => `LLM response: ${JSON.stringify(answers.reply.content)}`,
  }),
  tool({
    name: 'test_elicitation',
    description: 'Asks the person who they are',
    input: z.object({ message: z.string() }),
    ask: ({ message }) => ({ contact: ask.form(message, contact) }),
    run: (_input, { answers }) => `User response: action: accept, content: ${JSON.stringify(answers.contact)}`,
  }),
  tool({
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks with a default for every type a form has',
    ask: () => ({ profile: ask.form('Please check your profile', withDefaults) }),
    run: (_input, { answers }) => `Elicitation completed: action=accept, content=${JSON.stringify(answers.profile)}`,
  }),
  tool({
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks with every kind of choice a form has',
    ask: () => ({ chosen: ask.form('Please choose', choices) }),
    run: (_input, { answers }) => `Elicitation completed: action=accept, content=${JSON.stringify(answers.chosen)}`,
  }),
  tool({
    name: 'test_missing_capability',
    description: 'Works only for clients that declare sampling',
    ask: () => ({ capital_question: capital() }),
    run: () => 'The client has a model',
  }),
  tool({
    name: 'test_streaming_elicitation',
    description: 'Asks in a result, never by a request on the stream',
    ask: () => ({ user_name: who() }),
    run: (_input, { answers }) => `Hello, ${answers.user_name.name}!`,
  }),
]

/** Named by the suite for 2026-07-28. */
const inputRequired: readonly Tool[] = [
  tool({
    name: 'test_input_required_result_elicitation',
    description: 'Asks the person one thing',
    ask: () => ({ user_name: who() }),
    run: (_input, { answers }) => `Hello, ${answers.user_name.name}!`,
  }),
  tool({
    name: 'test_input_required_result_sampling',
    description: "Asks the client's model one thing",
    ask: () => ({ capital_question: capital() }),
    run: (_input, { answers }) => `The model said: ${JSON.stringify(answers.capital_question.content)}`,
  }),
  tool({
    name: 'test_input_required_result_list_roots',
    description: "Asks for the client's roots",
    ask: () => ({ client_roots: ask.roots() }),
    run: (_input, { answers }) => `Roots: ${answers.client_roots.map(({ uri }) => uri).join(', ')}`,
  }),
  tool({
    name: 'test_input_required_result_request_state',
    description: 'Asks, and runs only with its own state',
    ask: () => ({ confirm: confirm() }),
    run: (_input, { answers }) => `state-ok, confirmed: ${answers.confirm.ok}`,
  }),
  tool({
    name: 'test_input_required_result_tampered_state',
    description: 'Asks, and refuses changed state',
    ask: () => ({ confirm: confirm() }),
    run: (_input, { answers }) => `Confirmed: ${answers.confirm.ok}`,
  }),
  tool({
    name: 'test_input_required_result_multiple_inputs',
    description: 'Asks the person, the model and for the roots at once',
    ask: () => ({ user_name: who(), greeting: model('Generate a greeting', 50), client_roots: ask.roots() }),
    run: (_input, { answers: { user_name, greeting, client_roots } }) =>
      `${JSON.stringify(greeting.content)} to ${user_name.name} in ${client_roots.map(({ uri }) => uri).join(', ')}`,
  }),
  tool({
    name: 'test_input_required_result_multi_round',
    description: 'Asks one thing after the other',
    ask: (_input, given) => ({
      step1: ask.form('Step 1: What is your name?', named),
      ...('step1' in given && { step2: ask.form('Step 2: What is your favorite color?', colored) }),
    }),
    run: (_input, { answers: { step1, step2 } }) => `${step1.name} likes ${step2?.color}`,
  }),
  tool({
    name: 'test_input_required_result_capabilities',
    description: 'Asks only for what the client declared',
    ask: (_input, _given, { capabilities }) => ({
      ...('elicitation' in capabilities && { user_name: who() }),
      ...('sampling' in capabilities && { capital_question: capital() }),
      ...('roots' in capabilities && { client_roots: ask.roots() }),
    }),
    run: (_input, { answers }) => `Asked for: ${Object.keys(answers).join(', ')}`,
  }),
]

export const askingTools: readonly Tool[] = [...direct, ...inputRequired]
