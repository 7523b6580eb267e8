/** A year of rides as a table: the caller chooses the text format. */

import assert from 'node:assert/strict'
import { defineServer, tool } from 'sluice'
import { testClient } from 'sluice/testing'
import { toon } from 'sluice/toon'

const rides = Array.from({ length: 365 }, (_, day) => ({ day, km: 20 + (day % 7), elevation: 100 * (day % 5) }))
const list = tool({
  name: 'rides',
  description: 'All rides of the year',
  format: toon,
  run: () => ({ rides }),
})
const client = await testClient(defineServer({ name: 'rides', version: '1.0.0', tools: [list] }))

const textOf = (result: object) => (result as { content: [{ text: string }] }).content[0].text
const [json, short] = [await client.call('rides'), await client.call('rides', { format: 'toon' })]
assert.match(textOf(short), /^rides\[365\]\{day,km,elevation\}:\n {2}0,20,0/)
assert.ok(textOf(short).length < textOf(json).length / 2)
assert.ok('structuredContent' in json && !('structuredContent' in short))
