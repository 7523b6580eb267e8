/**
 * The contenders, the newest protocol revision of each, and what its users install and import.
 *
 * The revision decides the form of the messages, so that no contender gets a form that it would refuse.
 */
import type { Revision } from './messages.ts'

export type Contender =
  | 'floor'
  | 'sluice'
  | 'sluice-full'
  | 'sluice-redis'
  | 'sluice-postgres'
  | 'stack-memory'
  | 'stack-sqlite'
  | 'stack-redis'
  | 'stack-postgres'
  | 'sdk-v2'
  | 'sdk-v1'
  | 'mcp-lite'
  | 'tmcp'

export const revisions: Record<Contender, Revision> = {
  floor: '2026-07-28',
  sluice: '2026-07-28',
  'sluice-full': '2026-07-28',
  'sluice-redis': '2026-07-28',
  'sluice-postgres': '2026-07-28',
  'stack-memory': '2026-07-28',
  'stack-sqlite': '2026-07-28',
  'stack-redis': '2026-07-28',
  'stack-postgres': '2026-07-28',
  'sdk-v2': '2026-07-28',
  'sdk-v1': '2025-11-25',
  'mcp-lite': '2025-06-18',
  tmcp: '2026-07-28',
}

export interface Install {
  /** The installed packages: the parts of the library that an HTTP server needs, without Zod and fetch adapters. */
  readonly packages: readonly string[]
  /** Its main entry. */
  readonly entry: readonly string[]
  /** Everything that an HTTP server on Node imports before its first request, except Zod. */
  readonly http: readonly string[]
}

export const installs: Partial<Record<Contender, Install>> = {
  sluice: { packages: ['sluice'], entry: ['sluice'], http: ['sluice', 'sluice/node'] },
  'sdk-v2': {
    packages: ['@modelcontextprotocol/server', '@modelcontextprotocol/node'],
    entry: ['@modelcontextprotocol/server'],
    http: ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'node:http'],
  },
  'sdk-v1': {
    packages: ['@modelcontextprotocol/sdk'],
    entry: ['@modelcontextprotocol/sdk/server/mcp.js'],
    http: [
      '@modelcontextprotocol/sdk/server/mcp.js',
      '@modelcontextprotocol/sdk/server/streamableHttp.js',
      '@modelcontextprotocol/sdk/server/express.js',
    ],
  },
  'mcp-lite': {
    packages: ['mcp-lite'],
    entry: ['mcp-lite'],
    http: ['mcp-lite', '@hono/node-server', 'node:http'],
  },
  tmcp: {
    packages: ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-http'],
    entry: ['tmcp'],
    http: ['tmcp', '@tmcp/adapter-zod', '@tmcp/transport-http', '@hono/node-server', 'node:http'],
  },
}

/** Returns the script of a contender for one section. */
export const scriptOf = (contender: Contender, section: string): URL =>
  new URL(`../contenders/${contender}/${section}.ts`, import.meta.url)
