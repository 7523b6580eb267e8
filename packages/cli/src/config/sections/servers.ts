/** The servers: built-in ones, modules, and upstreams behind the gateway with their rules and profiles. */

import * as z from 'zod'
import { bucket, count, ms, names, path, url } from './values.ts'

export const upstreamRule = z.strictObject({
  tools: names.describe('Names of its tools, or patterns such as "delete_*"; every tool by default'),
  tenants: names.describe('Tenants that it is for; every tenant by default'),
  callers: names.describe('Callers that it is for: subjects, or ids of API keys; every caller by default'),
  allow: z.boolean().optional().describe('`false` hides the tools and refuses their calls'),
  rename: z.string().min(1).optional().describe('The name that callers see; `*` stands for the tool’s own name'),
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

export const upstreamAuth = z
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

export const serverSettings = z
  .strictObject({
    module: path.optional().describe('A module that exports a server; omit it for a built-in server'),
    folder: path.optional().describe('The folder that the server serves: the Markdown files of knowledge'),
    command: path.optional().describe('A command that starts another MCP server on stdio, behind Sluice'),
    args: z
      .array(z.string())
      .optional()
      .describe(`The arguments of the command; \${env:NAME} and \${file:path} are resolved`),
    url: url
      .optional()
      .describe(`The URL of another MCP server, over Streamable HTTP; \${env:NAME} and \${file:path} are resolved`),
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

export const servers = z
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
  .describe('The servers by name; by default the five built-in ones')

export const profiles = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'A name has lower-case letters, digits and "-"'), profile)
  .optional()
  .describe('Named subsets of the tools of upstreams, each with an endpoint')

export const processes = z
  .strictObject({
    maxProcesses: count(1).optional().describe('Processes of all commands among the servers; 64 by default'),
    maxPerTenant: count(1).optional().describe('Those of one tenant; 8 by default'),
  })
  .prefault({})
