/**
 * Everything that can be set, once: types, checks, the published JSON Schema and the texts of `sluice config print` come
 * from here. No secret stands in a configuration: those come from the environment or from files that it names.
 */

import * as z from 'zod'

const count = (least: number): z.ZodNumber => z.int().min(least)
const ms = (about: string): z.ZodOptional<z.ZodNumber> => count(1).optional().describe(`${about}, in milliseconds`)
const burst = z.number().min(1).describe('At once')
const perSecond = z.number().positive().describe('Refilled each second')
const bucket = z.strictObject({ burst, perSecond })
const url = z.string().regex(/^https?:\/\/[^\s]+$/, 'An http or https address')
const path = z.string().min(1)

const jwt = z
  .strictObject({
    issuer: z.string().min(1),
    audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    jwks: url.optional().describe('Where the issuer publishes its keys'),
    pemFile: path.optional().describe('A file with the issuer’s public key'),
    secretFile: path.optional().describe('A file with the shared secret'),
    algorithms: z.array(z.string()).optional(),
    subject: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The claim that names the caller, if it means the same at every issuer; by default sub, apart for each issuer',
      ),
  })
  .refine(({ jwks, pemFile, secretFile }) => [jwks, pemFile, secretFile].filter(Boolean).length === 1, {
    message: 'Give exactly one of jwks, pemFile and secretFile',
  })

const names = z.union([z.string(), z.array(z.string()).min(1)]).optional()
const rule = z.strictObject({
  tool: names.describe('A name, or a pattern such as "repl_*"'),
  server: names,
  tenant: names,
  caller: names,
  annotations: z
    .strictObject({
      readOnlyHint: z.boolean().optional(),
      destructiveHint: z.boolean().optional(),
      idempotentHint: z.boolean().optional(),
      openWorldHint: z.boolean().optional(),
    })
    .optional()
    .describe('Hints of the tool; what it does not say counts as dangerous'),
  approval: z.enum(['never', 'always', 'tool']).describe('`tool`: what the tool says itself'),
  needed: count(1).optional().describe('So many different people must approve'),
  of: z.array(z.string()).optional().describe('Only these may decide'),
})

const retentionSettings = {
  maxAgeDays: z.number().positive().optional().describe('Older records are pruned'),
  maxMegabytes: z.number().positive().optional().describe('Beyond it the oldest records are pruned'),
}

const serverSettings = z.strictObject({
  module: path.optional().describe('A module that exports a server; left out for the five that come along'),
  env: z.record(z.string(), z.string()).optional().describe('Added to its environment'),
  enabled: z.boolean().optional(),
})

export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  host: z.string().min(1).default('127.0.0.1').describe('The address to listen on'),
  port: z.int().min(0).max(65_535).default(3000).describe('The port to listen on; 0 takes a free one'),
  hosts: z
    .array(z.string().min(1))
    .optional()
    .describe('Names by which clients reach it, besides this machine’s own; a port only where a proxy has another one'),
  origins: z.array(z.string()).optional().describe('Web pages that may call it'),
  data: path.default('.sluice').describe('The folder for everything that is kept'),
  store: z
    .union([z.enum(['sqlite', 'memory']), z.strictObject({ redis: z.string().regex(/^rediss?:\/\//) })])
    .default('sqlite')
    .describe('Where state is kept; Redis for several processes. Its password comes from SLUICE_REDIS_PASSWORD'),
  sharedData: z
    .boolean()
    .default(false)
    .describe('Every process that shares Redis has this same data folder, so files in it are shared too'),
  secretFile: path
    .optional()
    .describe('Seals what travels through clients; otherwise SLUICE_SECRET, or a file in the data folder'),
  servers: z
    .record(
      z.string().regex(/^[a-z][a-z0-9.-]*$/, 'A name begins with a letter; letters, digits, dots and hyphens follow'),
      serverSettings,
    )
    .optional()
    .describe('By name; the five that come along unless said'),
  log: z
    .strictObject({
      level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
      file: path.optional().describe('Lines go there instead of stderr'),
    })
    .prefault({}),
  authenticate: z
    .strictObject({
      apiKeys: z.boolean().default(true).describe('Keys made with sluice keys'),
      jwt: z.array(jwt).default([]).describe('Issuers whose tokens are taken'),
      publicMethods: z
        .array(z.string())
        .optional()
        .describe('Served without a credential; what the server says itself unless set'),
      impliedScopes: z
        .record(z.string(), z.array(z.string()).min(1))
        .optional()
        .describe('Scopes that a wider one includes, as in { repo: [repo:read] }'),
      paramsToken: z.boolean().default(false).describe('Take params.token over HTTP too'),
      resource: z
        .strictObject({
          resource: url.describe('The address clients call; tokens name it as audience'),
          authorizationServers: z.array(url).min(1).describe('Where clients get tokens'),
          scopes: z.array(z.string()).optional().describe('Scopes a client may ask for'),
          name: z.string().optional().describe('For people'),
          documentation: url.optional().describe('A page for people'),
        })
        .optional()
        .describe('OAuth: what clients must know to get a token (RFC 9728)'),
    })
    .nullable()
    .prefault({})
    .describe('Who may call; without it everybody may, and then nothing gated starts'),
  tenants: z
    .strictObject({
      claim: z.string().default('tenants').describe('The claim that names a caller’s tenants'),
      header: z.string().optional().describe('By which a member of several chooses'),
      tools: z
        .record(z.string(), z.array(z.string()))
        .optional()
        .describe('The tools each tenant has; others have all'),
    })
    .nullable()
    .prefault({})
    .describe('For whom a caller works'),
  rateLimit: z
    .strictObject({
      burst: burst.optional(),
      perSecond: perSecond.optional(),
      tools: z.record(z.string(), bucket).optional().describe('A bucket of its own for a tool, by name'),
    })
    .nullable()
    .prefault({})
    .describe('How often one caller may call'),
  concurrency: z
    .strictObject({
      perTenant: count(1).optional().describe('Calls of one tenant'),
      tools: z.record(z.string(), count(1)).optional().describe('Calls of one tool, by name'),
      queue: count(0).optional().describe('How many may wait'),
    })
    .nullable()
    .prefault({})
    .describe('How many calls run at once'),
  admission: z
    .strictObject({
      concurrency: count(1).optional().describe('Requests at once, of everybody'),
      queue: count(0).optional().describe('How many may wait'),
      queueMs: ms('How long one may wait'),
      perPeer: bucket.optional(),
      connectionsPerPeer: count(1).optional().describe('Connections of one address'),
    })
    .nullable()
    .prefault({})
    .describe('Asked before a body is read'),
  idempotency: z
    .strictObject({
      keepMs: ms('How long idempotency keys are remembered'),
      maxRecord: count(1).optional().describe('The largest answer kept, in characters'),
    })
    .prefault({}),
  audit: z
    .strictObject({
      blocking: z.boolean().optional().describe('No call runs whose record cannot be written'),
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
        .describe('How much of each tenant’s record is kept'),
    })
    .nullable()
    .prefault({})
    .describe('The record of what was called'),
  errors: z
    .enum(['mcp', 'json-rpc'])
    .default('mcp')
    .describe('`json-rpc` gives clients before 2026-07-28 the codes of plain JSON-RPC servers'),
  timeoutMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('The deadline of calls to what names none of its own, in milliseconds; 30 s by default'),
  sessions: z
    .strictObject({
      idleMs: ms('How long a silent session is kept'),
      max: count(1).optional().describe('How many are kept'),
    })
    .nullable()
    .prefault({})
    .describe('Sessions of clients before 2026-07-28; without them each request stands alone, and there is no `sse`'),
  metrics: z.boolean().default(true).describe('/metrics'),
  tracing: z.boolean().default(false).describe('OpenTelemetry spans, through the registered SDK'),
  sse: z.boolean().default(true).describe('The transport of 2024-11-05 beside the endpoint'),
  websocket: z.boolean().default(false).describe('WebSocket at /ws beside the endpoint'),
  approvals: z
    .strictObject({
      approver: z.enum(['owner', 'other', 'client']).default('owner').describe('Who decides'),
      rules: z.array(rule).default([]).describe('Which calls need a person; the first that matches decides'),
      decideMs: ms('How long a person has to decide'),
      runMs: ms('How long the caller has to run what was approved'),
      keepMs: ms('How long tickets can be looked up'),
      maxPending: count(1).optional().describe('Undecided tickets of one caller'),
      waitMs: ms('How long a call waits for a quick decision'),
      grants: z
        .strictObject({ maxMs: count(1).describe('The longest a grant may last, in milliseconds') })
        .optional()
        .describe('Standing permissions; off unless said'),
      webhook: url
        .optional()
        .describe(
          'Told of each ticket, and sends decisions back to /hooks/approvals of the console; signed with SLUICE_WEBHOOK_SECRET',
        ),
    })
    .prefault({}),
  console: z
    .strictObject({
      port: z.int().min(0).max(65_535).default(4100).describe('Its port'),
      host: z.string().default('127.0.0.1').describe('Its address'),
      origin: url.optional().describe('Where browsers find it behind a proxy that ends TLS'),
    })
    .nullable()
    .prefault({})
    .describe('The web page for people'),
  drain: z
    .strictObject({ noticeMs: ms('Still served after SIGTERM'), graceMs: ms('For calls under way') })
    .prefault({}),
})

/** What is in force: every setting, with its default. */
export type Config = z.infer<typeof configSchema>

/** Published beside the command, for editors. */
export const toJsonSchema = (): object => ({
  ...z.toJSONSchema(configSchema, { io: 'input' }),
  title: 'Sluice configuration',
})

/** Read from the environment alone; never from the file, never printed. Each server is started without them. */
export const secretNames = [
  'SLUICE_SECRET',
  'SLUICE_SECRET_FILE',
  'SLUICE_TOKEN',
  'SLUICE_REDIS_PASSWORD',
  'SLUICE_WEBHOOK_SECRET',
  'SLUICE_CONFIG',
  'SLUICE_TENANT',
  'SLUICE_DEBUG',
] as const
