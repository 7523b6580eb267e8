/** Resources, a template that lists and completes, and prompts. */

import type { Prompt, Resource } from 'sluice'
import { ask, prompt, resource } from 'sluice'
import { z } from 'zod'
import { annotations, bytes, everyBlock, icons, meta } from './content-tools.ts'

const notes: { readonly [slug: string]: string } = { hello: 'Hello', help: 'Read this first', world: 'World' }
const startingWith = (names: readonly string[], typed: string): readonly string[] =>
  names.filter((name) => name.startsWith(typed))

export const resources: readonly Resource[] = [
  resource({
    uri: 'note://text',
    name: 'text',
    title: 'A text',
    description: 'Words to read',
    mimeType: 'text/plain',
    size: 5,
    annotations,
    icons,
    meta,
    cache: { ttlMs: 5_000, scope: 'public' },
    read: () => ({ text: 'Words', _meta: meta }),
  }),
  resource({ uri: 'note://bytes', name: 'bytes', mimeType: 'image/png', read: () => bytes }),
  resource({ uri: 'note://gone', name: 'gone', read: () => undefined }),
  resource({ uri: 'note://watched', name: 'watched', mimeType: 'text/plain', read: () => 'Watched' }),
  resource({
    uri: 'note://locked',
    name: 'locked',
    ask: () => ({ word: ask.form('The word?', z.object({ word: z.string() })) }),
    read: (_variables, { answers }) => `Opened by ${answers.word.word}`,
  }),
  resource({
    uri: 'note://{year}/{slug}',
    name: 'notes',
    title: 'Notes by year',
    mimeType: 'text/plain',
    annotations,
    icons,
    meta,
    complete: {
      year: (typed) => startingWith(['2024', '2025', '2026'], typed),
      slug: (typed, { year }) => startingWith(year === '2024' ? ['old'] : Object.keys(notes), typed),
    },
    // Two pages, so that the cursor of a template's own list is used.
    list: ({ cursor }) => {
      const [first, ...rest] = Object.keys(notes).map((slug) => ({ uri: `note://2026/${slug}`, name: slug, icons }))
      return cursor === undefined ? { resources: first ? [first] : [], next: 'rest' } : { resources: rest }
    },
    read: ({ slug }) => notes[String(slug)],
  }),
]

export const prompts: readonly Prompt[] = [
  prompt({
    name: 'greet',
    title: 'Greeting',
    description: 'Greets somebody',
    input: z.object({
      name: z.string().meta({ title: 'Name', description: 'Who' }),
      tone: z.string().optional(),
    }),
    icons,
    meta,
    complete: {
      tone: (typed, { name }) =>
        startingWith(name === 'the king' ? ['formal'] : ['formal', 'friendly', 'funny'], typed),
    },
    run: ({ name, tone = 'plain' }) => [
      { role: 'user', content: `Greet ${name}, ${tone}` },
      { role: 'assistant', content: 'Gladly' },
    ],
  }),
  prompt({
    name: 'media',
    description: 'A message with every kind of content',
    run: () => ({ messages: everyBlock.map((content) => ({ role: 'user', content }) as const) }),
  }),
  prompt({ name: 'short', description: 'One text', run: () => 'Say hello' }),
]
