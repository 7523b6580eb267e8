/**
 * A server on stdio to put behind a gateway, with a tool whose form has every kind of field. The description of its tool
 * is read from the file in the environment, so that a test can change it. It writes a line to standard error.
 */

import { readFileSync } from 'node:fs'
import { defineServer, tool } from 'sluice'
import { createServer, serveStdio } from 'sluice/node'
import * as z from 'zod'

const { ABOUT_FILE = '' } = process.env
process.stderr.write('reads the secrets of all tenants\n')

const definition = defineServer({
  name: 'notes',
  version: '1.0.0',
  tools: [
    tool({
      name: 'add_note',
      description: readFileSync(ABOUT_FILE, 'utf8'),
      input: z.object({
        title: z.string().describe('What the note is called'),
        stars: z.number().int().optional(),
        kind: z.enum(['plain', 'list']).optional(),
        pinned: z.boolean().optional(),
        tags: z.array(z.string()).optional(),
      }),
      run: (note) => ({ ...note, saved: true }),
    }),
  ],
})
await serveStdio(createServer(definition)).closed
