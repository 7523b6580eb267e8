/** Tenants, their limits and their keys. */

export const tenantSchemas = {
  Tenant: {
    type: 'object',
    description: 'The usage of one tenant in the last minute, in this process.',
    required: ['id', 'servers', 'calls', 'errors', 'limited'],
    properties: {
      id: { type: 'string' },
      servers: { type: 'array', items: { type: 'string' } },
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      limited: { type: 'integer', description: 'Calls refused because a limit was reached.' },
      p95: { type: 'number' },
      limits: { type: 'array', items: { $ref: 'Limit' } },
    },
  },
  Limit: {
    type: 'object',
    required: ['server', 'name', 'used', 'most'],
    properties: {
      server: { type: 'string' },
      name: { type: 'string', description: 'What is limited: calls at once, waiting.' },
      used: { type: 'number' },
      most: { type: 'number' },
    },
  },
  Key: {
    type: 'object',
    description: 'An API key, without its secret.',
    required: ['id', 'prefix', 'subject', 'label', 'scopes', 'tenants', 'created'],
    properties: {
      id: { type: 'string' },
      prefix: { type: 'string' },
      subject: { type: 'string' },
      label: { type: 'string' },
      scopes: { type: 'array', items: { type: 'string' } },
      tenants: { type: 'array', items: { type: 'string' } },
      created: { type: 'number' },
      expires: { type: 'number' },
      lastUse: { type: 'number' },
      revoked: { type: 'number' },
    },
  },
} as const
