/** A tool that asks a question, and that needs an approval. */

import { ask, defineServer, type ServerDefinition, tool } from 'sluice'
import * as z from 'zod'

const deploy = tool({
  name: 'deploy',
  description: 'Deploy a service',
  input: z.object({ service: z.string() }),
  annotations: { destructiveHint: true },
  approval: 'always', // or a function of the input; the operator's rules take precedence
  effect: ({ service }) => ({ Service: service }), // what the approver sees first; compared again before the tool runs
  ask: ({ service }) => ({
    where: ask.form(`Where should ${service} go?`, z.object({ region: z.enum(['eu', 'us']) })),
  }),
  async run({ service }, { answers, progress, signal }) {
    signal.throwIfAborted()
    progress(1, 2, 'uploading')
    return { service, region: answers.where.region }
  },
})

export const services: ServerDefinition = defineServer({
  name: 'services',
  version: '1.0.0',
  tools: [deploy],
})
