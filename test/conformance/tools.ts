/** The suite's tools without questions: contents of every kind, progress, logs, schemas and headers. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { z } from 'zod'
import { png, wav } from './contents.ts'

/** Without Node, because this runs on every runtime. */
const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Long enough for a client to see the notifications one by one. */
const pauseMs = 50

const logging = (name: string): Tool =>
  tool({
    name,
    description: 'Logs three messages while it works',
    async run(_input, { log }) {
      log('info', 'Tool execution started')
      await delay(pauseMs)
      log('info', 'Tool processing data')
      await delay(pauseMs)
      log('info', 'Tool execution completed')
      return 'Logged three messages'
    },
  })

export const tools: readonly Tool[] = [
  tool({
    name: 'test_simple_text',
    description: 'Answers with text',
    run: () => 'This is a simple text response for testing.',
  }),
  tool({
    name: 'test_image_content',
    description: 'Answers with an image',
    run: () => [{ type: 'image', data: png, mimeType: 'image/png' }],
  }),
  tool({
    name: 'test_audio_content',
    description: 'Answers with a sound',
    run: () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  }),
  tool({
    name: 'test_embedded_resource',
    description: 'Answers with a resource inside',
    run: () => [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }),
  tool({
    name: 'test_multiple_content_types',
    description: 'Answers with text, an image and a resource',
    run: () => [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  }),
  tool({
    name: 'test_error_handling',
    description: 'Always fails',
    run() {
      throw fail('This tool intentionally returns an error for testing')
    },
  }),
  tool({
    name: 'test_tool_with_progress',
    description: 'Reports progress in three steps',
    async run(_input, { progress }) {
      progress(0, 100)
      await delay(pauseMs)
      progress(50, 100)
      await delay(pauseMs)
      progress(100, 100)
      return 'Reported progress'
    },
  }),
  logging('test_tool_with_logging'),
  logging('test_logging_tool'),
  tool({
    name: 'test_reconnection',
    description: 'Closes its stream before it has finished; the client comes back for the result',
    async run(_input, { detach }) {
      detach()
      await delay(2 * pauseMs)
      return 'Finished after the stream was closed and resumed'
    },
  }),
  tool({
    name: 'test_x_mcp_header',
    description: 'Takes an argument that is repeated as a header',
    input: z.object({
      region: z.string().optional().meta({ description: 'Where to run', 'x-mcp-header': 'Region' }),
    }),
    run: ({ region = 'nowhere' }) => `Ran in ${region}`,
  }),
  tool({
    name: 'json_schema_2020_12_tool',
    description: 'Tool with JSON Schema 2020-12 features',
    input: jsonSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema; this object is never awaited.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    }),
    run: (input) => `Called with ${JSON.stringify(input)}`,
  }),
]
