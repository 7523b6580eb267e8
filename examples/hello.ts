/** The smallest useful server: over HTTP, or with `--stdio` over stdio. */

import { defineServer, type ServerDefinition, tool } from 'sluice'
import { serveHttp, serveStdio } from 'sluice/node'
import * as z from 'zod'
import pkg from './package.json' with { type: 'json' }

export const hello: ServerDefinition = defineServer({
  name: 'hello',
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

if (import.meta.main) {
  if (process.argv.includes('--stdio')) serveStdio(hello)
  else console.log((await serveHttp(hello)).url)
}
