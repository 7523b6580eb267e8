import { defineServer, tool } from 'sluice'
import * as z from 'zod'
import pkg from './package.json' with { type: 'json' }

export const server = defineServer({
  name: pkg.name,
  version: pkg.version,
  tools: [
    tool({
      name: 'shout',
      description: 'Say it louder',
      input: z.object({ text: z.string().min(1) }),
      annotations: { readOnlyHint: true },
      run: ({ text }) => text.toUpperCase(),
    }),
  ],
})
