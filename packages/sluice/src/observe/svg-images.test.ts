import { expect, test } from 'vitest'
import type { LogLine } from '../core/log.ts'
import { createServer } from '../node.ts'
import { log } from '../plugins/log.ts'
import { defineServer } from '../protocol/definition.ts'
import { tool } from '../protocol/tools.ts'
import { testClient } from '../testing/client.ts'

const picture = (name: string, mimeType: string) =>
  tool({ name, description: 'A picture', run: () => [{ type: 'image', mimeType, data: 'AAAA' }] })

test('a tool that returns an SVG image is named in the log once, and other images are not', async () => {
  const warnings: LogLine[] = []
  const logger = { info() {}, warn: (line: LogLine) => warnings.push(line), error() {} }
  const tools = [
    picture('svg', 'image/svg+xml'),
    picture('other', 'image/svg+xml; charset=utf-8'),
    picture('png', 'image/png'),
  ]
  const server = createServer(defineServer({ name: 'x', version: '1', tools }), { use: [log(logger)] })
  const client = await testClient(server)
  for (const name of ['png', 'svg', 'svg', 'other']) await client.call(name)
  expect(warnings).toMatchObject([
    { event: 'svg_image', server: 'x', tool: 'svg', message: expect.stringContaining('PNG') },
    { event: 'svg_image', tool: 'other' },
  ])
})
