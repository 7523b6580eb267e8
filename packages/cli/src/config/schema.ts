/**
 * The schema of the configuration. The types, the checks, the published JSON Schema and `sluice config print` come from it.
 * A configuration holds no secrets. They come from the environment, or from files that the configuration names.
 */

import * as z from 'zod'

const count = (min: number): z.ZodNumber => z.int().min(min)
const ms = (about: string): z.ZodOptional<z.ZodNumber> => count(1).optional().describe(`${about}, in milliseconds`)
const burst = z.number().min(1).describe('The largest burst')
const perSecond = z.number().positive().describe('Calls added per second')
const bucket = z.strictObject({ burst, perSecond })
const url = z.string().regex(/^https?:\/\/[^\s]+$/, 'Must be an http or https URL')
const path = z.string().min(1)

const jwt = z
  .strictObject({
    issuer: z.string().min(1).describe('The issuer, exactly as its tokens name it'),
    audience: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
      .describe('The audience that a token must name, usually the URL that clients call'),
    jwks: url.optional().describe('The URL of the issuer’s keys'),
    pemFile: path.optional().describe('A file with the issuer’s public key'),
    secretFile: path.optional().describe('A file with the shared secret'),
    algorithms: z.array(z.string()).optional().describe('The algorithms that are accepted, as in [ES256]'),
    subject: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The claim that names the caller, if it is unique across issuers; by default sub, separate for each issuer',
      ),
  })
  .refine(({ jwks, pemFile, secretFile }) => [jwks, pemFile, secretFile].filter(Boolean).length === 1, {
    message: 'Set exactly one of "jwks", "pemFile" and "secretFile"',
  })

const names = z.union([z.string(), z.array(z.string()).min(1)]).optional()
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

const retentionSettings = {
  maxAgeDays: z.number().positive().optional().describe('Older records are pruned'),
  maxMegabytes: z.number().positive().optional().describe('Above this size the oldest records are pruned'),
}

const upstreamRule = z.strictObject({
  tools: names.describe('Names of its tools, or patterns such as "delete_*"; every tool by default'),
  tenants: names.describe('Tenants that it is for; every tenant by default'),
  callers: names.describe('Callers that it is for: subjects, or ids of API keys; every caller by default'),
  allow: z.boolean().optional().describe('`false` hides the tools and refuses their calls'),
  rename: z.string().min(1).optional().describe('The name that callers see; `*` stands for the own name'),
  describe: z.string().min(1).optional().describe('The description that models read'),
  fixed: z
    .record(z.string(), z.json())
    .optional()
    .describe('Arguments that every call gets, and that callers neither see nor send'),
  defaults: z
    .record(z.string(), z.json())
    .optional()
    .describe('Arguments that a call gets if the caller sends none of that name'),
  scopes: z.array(z.string()).optional().describe('Scopes that a caller must have'),
  approval: z.enum(['never', 'always']).optional().describe('Whether a call needs an approval'),
  questions: z
    .enum(['decline', 'relay'])
    .optional()
    .describe('Whether the upstream may ask during a call that needed an approval; `decline` by default'),
  timeoutMs: ms('How long a call may take; 60 s by default'),
  rate: bucket.optional().describe('How often each caller may call each tool, instead of `rateLimit`'),
  maxResultLength: count(1).optional().describe('How many characters of JSON a result may have'),
  format: z.enum(['toon']).optional().describe('The format of structured results as text'),
})

const oauthClient = z.strictObject({
  id: z.string().min(1).describe('The id of the client'),
  secret: z.string().optional().describe(`Written as \${env:NAME}, \${file:path} or \${keychain:service/account}`),
})

const upstreamAuth = z
  .strictObject({
    signIn: z
      .strictObject({
        client: oauthClient.optional().describe('A client at the authorization server; by default one is registered'),
        clientMetadata: url.optional().describe('The https URL of the metadata document of this client'),
        scope: z.string().optional().describe('Scopes to ask for; by default those that the upstream names'),
        redirect: url
          .optional()
          .describe('The URL that browsers come back to: that of this server, with /sign-in/callback for /mcp'),
      })
      .optional()
      .describe('Each caller signs in at the upstream'),
    exchange: z
      .strictObject({
        issuer: url.describe('The authorization server that issues the tokens of callers and exchanges them'),
        client: oauthClient.describe('The client of this gateway there'),
        scope: z.string().optional().describe('The scopes of the exchanged token'),
        audience: z.string().optional().describe('The name of the upstream there; by default its URL is sent'),
      })
      .optional()
      .describe('The token of each caller is exchanged for one of the upstream (RFC 8693)'),
  })
  .refine(({ signIn, exchange }) => (signIn === undefined) !== (exchange === undefined), {
    message: 'Set exactly one of "signIn" and "exchange"',
  })

const profile = z.strictObject({
  tools: z
    .record(z.string(), z.union([z.string(), z.array(z.string()).min(1)]))
    .refine((tools) => Object.keys(tools).length > 0, { message: 'Name at least one upstream and its tools' })
    .describe('Names of tools, or patterns, by upstream'),
  callers: names.describe('Callers that see only this profile, on every endpoint: subjects, or ids of API keys'),
})

const serverSettings = z
  .strictObject({
    module: path.optional().describe('A module that exports a server; omit it for a built-in server'),
    folder: path.optional().describe('The folder that the server serves: the Markdown files of knowledge'),
    command: path.optional().describe('A command that starts a server on stdio: a program of others behind Sluice'),
    args: z
      .array(z.string())
      .optional()
      .describe(`The arguments of the command; \${env:NAME} and \${file:path} are resolved`),
    url: url
      .optional()
      .describe(`The URL of a server of others, over Streamable HTTP; \${env:NAME} and \${file:path} are resolved`),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        `Headers for the URL. A credential is written as \${env:NAME}, \${file:path} or \${keychain:service/account}`,
      ),
    auth: upstreamAuth
      .optional()
      .describe('Credentials of each caller at the URL; by default all callers use `headers`'),
    allowHosts: z.array(z.string()).optional().describe('Other hosts that the URL may lead to'),
    env: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        `Variables added to its environment. A command gets few others; \${env:NAME}, \${file:path} and \${keychain:service/account} are resolved for it`,
      ),
    cwd: path.optional().describe('The working folder of the command'),
    user: z.string().min(1).optional().describe('The account of the command; Sluice must run as root'),
    idleMs: ms('How long a process without calls is kept'),
    scope: z
      .enum(['shared', 'tenant', 'caller', 'session'])
      .optional()
      .describe('Whose calls share a process or connection; by default each caller has one'),
    rules: z
      .array(upstreamRule)
      .optional()
      .describe('Rules for the tools of a command or URL; the first that states a member decides it'),
    trust: z
      .enum(['first-use', 'review', 'always'])
      .optional()
      .describe(
        'Which definitions are served: those of the first start and accepted ones (the default), only accepted ones, or all',
      ),
    trustHints: z.boolean().optional().describe('Believe the hints of its tools, such as readOnlyHint'),
    prefix: z.string().optional().describe('The prefix of its names on the endpoint for all; by default its name'),
    roots: z.array(z.string()).optional().describe('Folders that it may ask for, as file:// URIs'),
    enabled: z.boolean().optional().describe('`false` leaves it out'),
  })
  .refine(({ module, command, url: at }) => [module, command, at].filter((each) => each !== undefined).length <= 1, {
    message: 'Set at most one of "module", "command" and "url"',
  })

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
    .union([
      z.enum(['sqlite', 'memory']),
      z.strictObject({ redis: z.string().regex(/^rediss?:\/\//) }),
      z.strictObject({ postgres: z.string().regex(/^postgres(ql)?:\/\//) }),
    ])
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
  servers: z
    .record(
      z
        .string()
        .regex(/^[a-z][a-z0-9.-]*$/, 'A name must start with a letter; letters, digits, dots and hyphens may follow'),
      serverSettings,
    )
    .refine((servers) => !Object.hasOwn(servers, 'all'), {
      message: 'The name "all" is taken by the endpoint for all upstreams: choose another',
    })
    .optional()
    .describe('The servers by name; by default the five built-in ones'),
  profiles: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'A name has lower-case letters, digits and "-"'), profile)
    .optional()
    .describe('Named subsets of the tools of upstreams, each with an endpoint'),
  processes: z
    .strictObject({
      maxProcesses: count(1).optional().describe('Processes of all commands among the servers; 64 by default'),
      maxPerTenant: count(1).optional().describe('Those of one tenant; 8 by default'),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z
        .enum(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info')
        .describe('The least important lines that are written'),
      file: path.optional().describe('The log file; by default stderr'),
    })
    .prefault({}),
  authenticate: z
    .strictObject({
      apiKeys: z.boolean().default(true).describe('Accept API keys made with sluice keys'),
      jwt: z.array(jwt).default([]).describe('Issuers whose tokens are accepted'),
      publicMethods: z
        .array(z.string())
        .optional()
        .describe('Methods served without a credential; by default those that the server names'),
      impliedScopes: z
        .record(z.string(), z.array(z.string()).min(1))
        .optional()
        .describe('Scopes that another scope includes, as in { repo: [repo:read] }'),
      paramsToken: z.boolean().default(false).describe('Accept params.token over HTTP too'),
      resource: z
        .strictObject({
          resource: url.describe('The URL clients call; tokens name it as audience'),
          authorizationServers: z.array(url).min(1).describe('The authorization servers that issue tokens'),
          scopes: z.array(z.string()).optional().describe('Scopes a client may request'),
          name: z.string().optional().describe('A name for people'),
          documentation: url.optional().describe('A documentation page for people'),
        })
        .optional()
        .describe('OAuth protected-resource metadata, from which clients learn where to get a token (RFC 9728)'),
    })
    .nullable()
    .prefault({})
    .describe('Authentication of callers; without it everyone may call, and gated tools do not start'),
  tenants: z
    .strictObject({
      claim: z.string().default('tenants').describe('The claim that names a caller’s tenants'),
      header: z.string().optional().describe('The header by which a member of several tenants chooses one'),
      tools: z
        .record(z.string(), z.array(z.string()))
        .optional()
        .describe('The tools of each tenant; tenants not named have all'),
    })
    .nullable()
    .prefault({})
    .describe('The tenant of a caller'),
  rateLimit: z
    .strictObject({
      burst: burst.optional(),
      perSecond: perSecond.optional(),
      tools: z.record(z.string(), bucket).optional().describe('A separate bucket for a tool, by name'),
    })
    .nullable()
    .prefault({})
    .describe('The rate limit of each caller'),
  concurrency: z
    .strictObject({
      perTenant: count(1).optional().describe('Concurrent calls of one tenant'),
      tools: z.record(z.string(), count(1)).optional().describe('Concurrent calls of one tool, by name'),
      queue: count(0).optional().describe('How many calls may wait'),
    })
    .nullable()
    .prefault({})
    .describe('The limits of concurrent calls'),
  admission: z
    .strictObject({
      concurrency: count(1).optional().describe('Concurrent requests of all clients'),
      queue: count(0).optional().describe('How many requests may wait'),
      queueMs: ms('How long a request may wait'),
      perPeer: bucket.optional(),
      connectionsPerPeer: count(1).optional().describe('Connections of one IP address'),
    })
    .nullable()
    .prefault({})
    .describe('Admission control, which runs before a body is read'),
  idempotency: z
    .strictObject({
      keepMs: ms('How long idempotency keys are remembered'),
      maxRecord: count(1).optional().describe('The largest result kept, in characters'),
    })
    .prefault({}),
  audit: z
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
    .describe('The audit log'),
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
  sessions: z
    .strictObject({
      idleMs: ms('How long an idle session is kept'),
      max: count(1).optional().describe('How many sessions are kept'),
    })
    .nullable()
    .prefault({})
    .describe('Sessions of clients before 2026-07-28; without them each request is independent, and `sse` is off'),
  metrics: z.boolean().default(true).describe('The page /metrics'),
  tracing: z.boolean().default(false).describe('OpenTelemetry spans, through the registered SDK'),
  sse: z.boolean().default(true).describe('The HTTP+SSE transport of 2024-11-05 beside the endpoint'),
  websocket: z.boolean().default(false).describe('WebSocket at /ws beside the endpoint'),
  approvals: z
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
    .prefault({}),
  console: z
    .strictObject({
      port: z.int().min(0).max(65_535).default(4100).describe('The port of the console'),
      host: z.string().default('127.0.0.1').describe('The address of the console'),
      origin: url.optional().describe('Its URL for browsers, behind a proxy that terminates TLS'),
    })
    .nullable()
    .prefault({})
    .describe('The web console'),
  drain: z
    .strictObject({
      noticeMs: ms('How long new calls are served after SIGTERM'),
      graceMs: ms('How long calls in flight may take'),
    })
    .prefault({}),
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

/** Variables that are read only from the environment and never printed. Servers do not get them. */
export const secretNames = [
  'SLUICE_SECRET',
  'SLUICE_SECRET_FILE',
  'SLUICE_TOKEN',
  'SLUICE_REDIS_PASSWORD',
  'SLUICE_POSTGRES_PASSWORD',
  'SLUICE_WEBHOOK_SECRET',
  'SLUICE_CONFIG',
  'SLUICE_TENANT',
  'SLUICE_DEBUG',
] as const
