/** The person who is signed in, and the session. */

export const sessionSchemas = {
  Operator: {
    type: 'object',
    description: 'The signed-in operator, or the owner of the key.',
    required: ['name', 'scopes', 'tenants'],
    properties: {
      name: { type: 'string' },
      scopes: {
        type: 'array',
        items: { enum: ['approvals:decide', 'keys:manage', 'audit:export', 'tools:call', 'upstreams:manage'] },
      },
      tenants: { type: 'array', description: 'Empty means all.', items: { type: 'string' } },
    },
  },
  Session: {
    type: 'object',
    required: ['operator', 'csrf', 'expiresAt', 'now', 'servers', 'pages'],
    properties: {
      operator: { $ref: 'Operator' },
      csrf: { type: 'string', description: 'Send it in the header x-csrf-token of every change made with the cookie.' },
      expiresAt: { type: 'number' },
      now: { type: 'number', description: "The server's clock, for countdowns." },
      servers: { type: 'array', items: { type: 'string' } },
      pages: {
        type: 'array',
        description: 'The pages that have something to show here, besides those that always do.',
        items: { enum: ['upstreams', 'clients'] },
      },
    },
  },
} as const
