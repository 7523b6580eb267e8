/** A tool whose result a client can show as a page. */

import assert from 'node:assert/strict'
import type { ServerDefinition } from 'sluice'
import { defineServer, tool } from 'sluice'
import { app, appOnly, appPage } from 'sluice/apps'
import { testClient } from 'sluice/testing'
import * as z from 'zod'

const dice = app({
  uri: 'ui://dice/rolls',
  name: 'rolls',
  title: 'Rolls',
  html: appPage({
    title: 'Rolls',
    style: 'output { font-size: 48px; display: block }',
    body: '<output id="rolls">…</output><button id="again">Again</button>',
    script: `
      const [rolls, again] = ['rolls', 'again'].map((id) => document.getElementById(id))
      const show = ({ structuredContent }) => app.text(rolls, structuredContent.rolls.join(' + '))
      app.onresult = show
      app.onerror = ({ message }) => app.text(rolls, message)
      again.onclick = async () => show(await app.callTool('roll_again', { count: 2 }))`,
  }),
  prefersBorder: true,
})

const rollsOf = (count: number): { rolls: number[] } => ({ rolls: Array.from({ length: count }, (_, at) => at + 1) })
const input = z.object({ count: z.int().min(1).max(10) })

export const game: ServerDefinition = defineServer({
  name: 'dice',
  version: '1.0.0',
  tools: [
    tool({ name: 'roll', description: 'Rolls dice', input, ui: dice, run: ({ count }) => rollsOf(count) }),
    // Only pages call it: clients do not show it to the model.
    tool({ name: 'roll_again', description: 'Rolls again', input, ui: appOnly, run: ({ count }) => rollsOf(count) }),
  ],
})

const client = await testClient(game)
const { tools } = await client.request('tools/list')
assert.partialDeepStrictEqual(tools, [
  { name: 'roll', _meta: { ui: { resourceUri: 'ui://dice/rolls' }, 'ui/resourceUri': 'ui://dice/rolls' } },
  { name: 'roll_again', _meta: { ui: { visibility: ['app'] } } },
])
const { contents } = await client.request('resources/read', { uri: 'ui://dice/rolls' })
assert.partialDeepStrictEqual(contents, [
  { mimeType: 'text/html;profile=mcp-app', _meta: { ui: { prefersBorder: true } } },
])
// Clients without apps show what the model reads: the text of the result.
assert.partialDeepStrictEqual(await client.call('roll', { count: 2 }), { content: [{ text: '{"rolls":[1,2]}' }] })
