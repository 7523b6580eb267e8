/** One tool over HTTP, for clients on this machine. */

import { defineServer, tool } from 'sluice'
import { serve } from 'sluice/node'
import * as z from 'zod'

const shout = tool({
  name: 'shout',
  description: 'Says it louder',
  input: z.object({ text: z.string().min(1) }),
  run: ({ text }) => text.toUpperCase(),
})

await serve(defineServer({ name: 'hello', version: '1.0.0', tools: [shout] }))
