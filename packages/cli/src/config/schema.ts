/**
 * The schema of the configuration. The types, the checks, the published JSON Schema and `sluice config print` come from it.
 * A configuration holds no secrets. They come from the environment, or from files that the configuration names.
 */

import * as z from 'zod'
import { approvals } from './sections/approvals.ts'
import { authenticate, tenants } from './sections/callers.ts'
import { admission, concurrency, drain, idempotency, rateLimit, sessions } from './sections/limits.ts'
import { audit, consoleSettings, log } from './sections/operation.ts'
import type { serverSettings, upstreamAuth, upstreamRule } from './sections/servers.ts'
import { processes, profiles, servers } from './sections/servers.ts'
import { path } from './sections/values.ts'

export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  host: z.string().min(1).default('127.0.0.1').describe('The address to listen on'),
  port: z.int().min(0).max(65_535).default(3000).describe('The port to listen on; 0 takes a free one'),
  hosts: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Host names that clients use, besides those of this machine; with a port only if a proxy uses another one',
    ),
  origins: z.array(z.string()).optional().describe('Origins of web pages that may call it'),
  data: path.default('.sluice').describe('The data folder'),
  store: z
    .union(
      [
        z.enum(['sqlite', 'memory']),
        z.strictObject({ redis: z.string().regex(/^rediss?:\/\//, 'Begin it with redis:// or rediss://') }),
        z.strictObject({ postgres: z.string().regex(/^postgres(ql)?:\/\//, 'Begin it with postgresql://') }),
      ],
      { error: 'Use sqlite, memory, { redis: redis://… } or { postgres: postgresql://… }' },
    )
    .default('sqlite')
    .describe(
      'The store of all state; Redis or PostgreSQL for several processes. The password comes from SLUICE_REDIS_PASSWORD or SLUICE_POSTGRES_PASSWORD',
    ),
  sharedData: z
    .boolean()
    .default(false)
    .describe('Set to true if all processes that share the store also share this data folder'),
  secretFile: path
    .optional()
    .describe('The secret that seals state sent to clients; by default SLUICE_SECRET, or a file in the data folder'),
  servers,
  profiles,
  processes,
  log,
  authenticate,
  tenants,
  rateLimit,
  concurrency,
  admission,
  idempotency,
  audit,
  errors: z
    .enum(['mcp', 'json-rpc'])
    .default('mcp')
    .describe('`json-rpc` gives clients before 2026-07-28 the error codes of plain JSON-RPC servers'),
  timeoutMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('The deadline of tools, resources and prompts that set none, in milliseconds; 30 s by default'),
  sessions,
  metrics: z.boolean().default(true).describe('The page /metrics'),
  tracing: z.boolean().default(false).describe('OpenTelemetry spans, through the registered SDK'),
  sse: z.boolean().default(true).describe('The HTTP+SSE transport of 2024-11-05 beside the endpoint'),
  websocket: z.boolean().default(false).describe('WebSocket at /ws beside the endpoint'),
  approvals,
  console: consoleSettings,
  drain,
})

/** The effective configuration: every setting, with its default. */
export type Config = z.infer<typeof configSchema>
export type ServerSettings = z.infer<typeof serverSettings>
export type UpstreamAuthSettings = z.infer<typeof upstreamAuth>
export type UpstreamRuleSettings = z.infer<typeof upstreamRule>

/** Returns the JSON Schema, which is published with the command for editors. */
export const toJsonSchema = (): object => ({
  ...z.toJSONSchema(configSchema, { io: 'input' }),
  title: 'Sluice configuration',
})
