/** What operators see: the log, the audit and the console. */

import * as z from 'zod'
import { count, path, url } from './values.ts'

const retentionSettings = {
  maxAgeDays: z.number().positive().optional().describe('Older records are pruned'),
  maxMegabytes: z.number().positive().optional().describe('Above this size the oldest records are pruned'),
}

export const log = z
  .strictObject({
    level: z
      .enum(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('The least important lines that are written'),
    file: path.optional().describe('The log file; by default stderr'),
  })
  .prefault({})

export const audit = z
  .strictObject({
    blocking: z.boolean().optional().describe('Refuse a call if its audit record cannot be written'),
    maxQueued: count(1).optional().describe('Records that may wait for the store'),
    retention: z
      .strictObject({
        ...retentionSettings,
        tenants: z
          .record(z.string(), z.strictObject(retentionSettings))
          .optional()
          .describe('Other limits for a tenant, by id'),
      })
      .nullable()
      .prefault({ maxMegabytes: 1_000 })
      .describe('How much of each tenant’s audit log is kept'),
  })
  .nullable()
  .prefault({})
  .describe('The audit log')

export const consoleSettings = z
  .strictObject({
    port: z.int().min(0).max(65_535).default(4100).describe('The port of the console'),
    host: z.string().default('127.0.0.1').describe('The address of the console'),
    origin: url.optional().describe('Its URL for browsers, behind a proxy that terminates TLS'),
  })
  .nullable()
  .prefault({})
  .describe('The web console')
