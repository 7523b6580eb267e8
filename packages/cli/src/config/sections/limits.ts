/** Limits: how many calls are served, how often, and how long things are kept. */

import * as z from 'zod'
import { bucket, burst, count, ms, perSecond } from './values.ts'

export const rateLimit = z
  .strictObject({
    burst: burst.optional(),
    perSecond: perSecond.optional(),
    tools: z.record(z.string(), bucket).optional().describe('A separate bucket for a tool, by name'),
  })
  .nullable()
  .prefault({})
  .describe('The rate limit of each caller')

export const concurrency = z
  .strictObject({
    perTenant: count(1).optional().describe('Concurrent calls of one tenant'),
    tools: z.record(z.string(), count(1)).optional().describe('Concurrent calls of one tool, by name'),
    queue: count(0).optional().describe('How many calls may wait'),
  })
  .nullable()
  .prefault({})
  .describe('The limits of concurrent calls')

export const admission = z
  .strictObject({
    concurrency: count(1).optional().describe('Concurrent requests of all clients'),
    queue: count(0).optional().describe('How many requests may wait'),
    queueMs: ms('How long a request may wait'),
    perPeer: bucket.optional(),
    connectionsPerPeer: count(1).optional().describe('Connections of one IP address'),
  })
  .nullable()
  .prefault({})
  .describe('Admission control, which runs before a body is read')

export const idempotency = z
  .strictObject({
    keepMs: ms('How long idempotency keys are remembered'),
    maxRecord: count(1).optional().describe('The largest result kept, in characters'),
  })
  .prefault({})

export const sessions = z
  .strictObject({
    idleMs: ms('How long an idle session is kept'),
    max: count(1).optional().describe('How many sessions are kept'),
  })
  .nullable()
  .prefault({})
  .describe('Sessions of clients before 2026-07-28; without them each request is independent, and `sse` is off')

export const drain = z
  .strictObject({
    noticeMs: ms('How long new calls are served after SIGTERM'),
    graceMs: ms('How long calls in flight may take'),
  })
  .prefault({})
