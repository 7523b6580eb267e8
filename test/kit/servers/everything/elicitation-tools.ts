/** Tools that need an answer first, one per kind of question. */

import type { Store, Tool } from 'sluice'
import { ask, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { z } from 'zod'

const keyed = z.object({ key: z.string() })
const trip = z.object({
  seats: z.int().min(1).max(9).default(2),
  meal: z.enum(['soup', 'salad']),
  window: z.boolean().default(true),
})
const colors = [
  { const: '#f00', title: 'Red' },
  { const: '#0f0', title: 'Green' },
]
const oneColor = jsonSchema<{ color: string }>({
  type: 'object',
  properties: { color: { type: 'string', oneOf: colors } },
  required: ['color'],
})
const manyColors = jsonSchema<{ colors: readonly string[] }>({
  type: 'object',
  properties: { colors: { type: 'array', items: { anyOf: colors }, minItems: 1 } },
  required: ['colors'],
})
const city = z.object({ city: z.string().min(2) })
const day = z.object({ day: z.string() })

const summarize = (text: string): ReturnType<typeof ask.sample> =>
  ask.sample({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 50, systemPrompt: 'Be brief' })
const textOf = (content: unknown): string => JSON.stringify(content)

const began = async (store: Store, key: string): Promise<number> => {
  await store.append(['runs', key], 'run')
  return (await store.list(['runs', key], { limit: 100 })).length
}

export const elicitationTools: readonly Tool[] = [
  tool({
    name: 'book',
    description: 'Asks the person by a form',
    ask: () => ({ trip: ask.form('Which trip?', trip) }),
    run: (_input, { answers: { trip } }) => `${trip.seats} seats, ${trip.meal}, window: ${trip.window}`,
  }),
  tool({
    name: 'choose',
    description: 'Asks the person to choose one of several',
    ask: () => ({ chosen: ask.form('Which color?', oneColor) }),
    run: (_input, { answers }) => answers.chosen.color,
  }),
  tool({
    name: 'choose_many',
    description: 'Asks the person to choose several',
    ask: () => ({ chosen: ask.form('Which colors?', manyColors) }),
    run: (_input, { answers }) => answers.chosen.colors.join(' '),
  }),
  tool({
    name: 'open_page',
    description: 'Asks the person to open a page',
    ask: () => ({ page: ask.link('Read the terms', 'https://example.com/terms') }),
    run: (_input, { answers }) => `opened: ${answers.page}`,
  }),
  tool({
    name: 'sign',
    description: 'Asks the person to finish something on a page',
    input: keyed,
    async ask({ key }, _given, { tenant }) {
      const signed = await tenant.store.get(['signed', key])
      return signed ? {} : { page: ask.page('Sign the contract', `https://example.com/sign/${key}`, `contract-${key}`) }
    },
    run: ({ key }) => `signed ${key}`,
  }),
  tool({
    name: 'finish_signing',
    description: 'What the page of "sign" would do',
    input: keyed,
    async run({ key }, { store }) {
      await store.set(['signed', key], 'yes')
      return 'finished'
    },
  }),
  tool({
    name: 'summarize',
    description: "Asks the client's model",
    input: z.object({ text: z.string() }),
    ask: ({ text }) => ({ summary: summarize(text) }),
    run: (_input, { answers: { summary } }) => `${summary.model}: ${textOf(summary.content)}`,
  }),
  tool({
    name: 'folders',
    description: "Asks for the client's roots",
    ask: () => ({ folders: ask.roots() }),
    run: (_input, { answers }) => answers.folders.map(({ uri }) => uri).join(' '),
  }),
  tool({
    name: 'plan',
    description: 'Asks the person twice, the second time about the first answer, and counts its runs',
    input: keyed,
    ask: (_input, given) => ({
      where: ask.form('Where to?', city),
      ...('where' in given && { when: ask.form(`When to ${textOf(given['where'])}?`, day) }),
    }),
    run: async ({ key }, { answers: { where, when }, store }) =>
      `${where.city} on ${when?.day}, run ${await began(store, key)}`,
  }),
  tool({
    name: 'survey',
    description: 'Asks for roots, then the model about them, and counts its runs: possible in every revision',
    input: keyed,
    ask: (_input, given) => ({
      folders: ask.roots(),
      ...('folders' in given && { summary: summarize(textOf(given['folders'])) }),
    }),
    run: async ({ key }, { answers: { folders, summary }, store }) =>
      `${folders.length} folders, ${summary?.model}, run ${await began(store, key)}`,
  }),
  tool({
    name: 'both',
    description: 'Asks two things at once',
    ask: () => ({ folders: ask.roots(), summary: summarize('Say something') }),
    run: (_input, { answers: { folders, summary } }) => `${folders.length} folders, ${summary.model}`,
  }),
  tool({
    name: 'runs',
    description: 'How often the counting tools ran with this key',
    input: keyed,
    run: async ({ key }, { store }) => String((await store.list(['runs', key], { limit: 100 })).length),
  }),
]
