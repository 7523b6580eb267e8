/** The callers and their tenants. */

import * as z from 'zod'
import { path, url } from './values.ts'

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

export const authenticate = z
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
  .describe('Authentication of callers; without it everyone may call, and gated tools do not start')

export const tenants = z
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
  .describe('The tenant of a caller')
