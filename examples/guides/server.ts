/** A server with one tool that changes something, one resource to read and one prompt to start from. */

import assert from 'node:assert/strict'
import type { ServerDefinition } from 'sluice'
import { defineServer, fail, prompt, resource, tool } from 'sluice'
import { run, testClient } from 'sluice/testing'
import * as z from 'zod'

const addNote = tool({
  name: 'add_note',
  description: 'Stores a note under a title',
  input: z.object({ title: z.string().regex(/^[a-z-]+$/), text: z.string().min(1) }),
  output: z.object({ uri: z.string() }),
  async run({ title, text }, { store, resourceUpdated }) {
    if (!(await store.swap(['notes', title], undefined, text)))
      throw fail(`A note "${title}" already exists; choose another title`)
    const uri = `note://${title}`
    resourceUpdated(uri)
    return { uri }
  },
})

const note = resource({
  uri: 'note://{title}',
  name: 'note',
  mimeType: 'text/plain',
  read: ({ title }, { store }) => store.get(['notes', String(title)]),
})

const summary = prompt({
  name: 'summary',
  description: 'Asks for a summary of a note',
  input: z.object({ title: z.string() }),
  run: ({ title }) => `Read note://${title} and say in three sentences what it is about.`,
})

export const notes: ServerDefinition = defineServer({
  name: 'notes',
  version: '1.0.0',
  instructions: 'Keep notes under short titles; read one before you change your mind about it.',
  tools: [addNote],
  resources: [note],
  prompts: [summary],
})

const client = await testClient(notes)
const added = await client.call('add_note', { title: 'tea', text: 'Water at 80 °C' })
assert.deepEqual(added.structuredContent, { uri: 'note://tea' })
assert.partialDeepStrictEqual(await client.request('resources/read', { uri: 'note://tea' }), {
  contents: [{ text: 'Water at 80 °C' }],
})
// An error that the model can fix is a tool error that says what to do.
const again = await client.call('add_note', { title: 'tea', text: 'Boiling' })
assert.equal(again.isError, true)
assert.equal(again.text(), 'A note "tea" already exists; choose another title')
// One tool, without a server.
const alone = await run(addNote, { title: 'tea', text: 'Boiling' })
assert.equal(alone.isError, false)
