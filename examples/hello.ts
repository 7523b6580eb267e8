/** The smallest useful server: over HTTP, or with `--stdio` over stdio. */

import { defineServer, type ServerDefinition, tool } from 'sluice'
import { serve } from 'sluice/node'
import * as z from 'zod'

export const hello: ServerDefinition = defineServer({
  name: 'hello',
  version: '1.0.0',
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

if (import.meta.main) await serve(hello)
