/** Approvals: which calls need one, the person who decides, and the place where tickets are announced. */

import * as z from 'zod'
import { count, ms, names, url } from './values.ts'

const rule = z.strictObject({
  tool: names.describe('A name, or a pattern such as "repl_*"'),
  server: names.describe('The name of a server, or a pattern'),
  tenant: names.describe('The id of a tenant, or a pattern'),
  caller: names.describe('The subject of a caller, or a pattern'),
  annotations: z
    .strictObject({
      readOnlyHint: z.boolean().optional().describe('Whether the tool only reads'),
      destructiveHint: z.boolean().optional().describe('Whether the tool may destroy data'),
      idempotentHint: z.boolean().optional().describe('Whether a repeated call changes nothing more'),
      openWorldHint: z.boolean().optional().describe('Whether the tool reaches other systems'),
    })
    .optional()
    .describe('Hints of the tool; a hint it does not state counts as dangerous'),
  approval: z.enum(['never', 'always', 'tool']).describe('`tool` leaves it to the tool'),
  needed: count(1).optional().describe('How many different people must approve'),
  of: z.array(z.string()).optional().describe('Only these people may decide'),
})

export const approvals = z
  .strictObject({
    approver: z.enum(['owner', 'other', 'client']).default('owner').describe('The person who decides'),
    rules: z.array(rule).default([]).describe('Rules for which calls need an approval; the first match decides'),
    decideMs: ms('How long a person has to decide'),
    runMs: ms('How long the caller has to run an approved call'),
    keepMs: ms('How long tickets are kept'),
    maxPending: count(1).optional().describe('Pending tickets of one caller'),
    waitMs: ms('How long a call waits for a quick decision'),
    grants: z
      .strictObject({ maxMs: count(1).describe('The maximum duration of a grant, in milliseconds') })
      .nullable()
      .optional()
      .describe('Standing permissions; in sluice start for at most an hour by default, otherwise off'),
    webhook: z
      .union(
        [
          url,
          z.strictObject({
            url: z.string().min(1).describe(`The address, or \${env:NAME} or \${file:path} if it is a secret`),
            format: z
              .enum(['json', 'slack', 'teams', 'ntfy'])
              .default('json')
              .describe('The body: our own, or what Slack, Microsoft Teams or ntfy takes'),
          }),
        ],
        { error: 'Must be a URL, or { url, format } with the format json, slack, teams or ntfy' },
      )
      .optional()
      .describe(
        'The URL that receives each ticket. Decisions come back to /hooks/approvals of the console. Both are signed with SLUICE_WEBHOOK_SECRET',
      ),
  })
  .prefault({})
