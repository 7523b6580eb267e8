/** A module for `sluice serve`: one gated tool, which appends its arguments to the file `ran` names. */

import { appendFileSync } from 'node:fs'
import { defineServer, tool } from 'sluice'
import { z } from 'zod'

export default defineServer({
  name: 'shop',
  version: '1.0.0',
  tools: [
    tool({
      name: 'pay',
      description: 'Pays a person',
      input: z.object({ ran: z.string(), amount: z.number(), memo: z.string().optional() }),
      approval: 'always',
      effect: () => ({ Account: 'main' }),
      run({ ran, amount }) {
        appendFileSync(ran, `${amount}\n`)
        return `Paid ${amount}`
      },
    }),
  ],
})
