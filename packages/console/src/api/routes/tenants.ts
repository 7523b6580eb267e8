/** Keys and tenants. */

export const tenantRoutes = {
  listAccess: {
    method: 'GET',
    path: '/api/access',
    about: 'Lists which tools of a server each valid key may call, with the reason for each refusal, in pages.',
    input: {
      type: 'object',
      required: ['server'],
      properties: { server: { type: 'string', maxLength: 256 }, after: { type: 'string', maxLength: 64 } },
    },
    output: {
      type: 'object',
      required: ['keys'],
      properties: { keys: { type: 'array', items: { $ref: 'Access' } }, next: { type: 'string' } },
    },
  },
  listTenants: {
    method: 'GET',
    path: '/api/tenants',
    about: 'Lists every known tenant with its usage in the last minute.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['tenants'],
      properties: { tenants: { type: 'array', items: { $ref: 'Tenant' } } },
    },
  },
  listKeys: {
    method: 'GET',
    path: '/api/keys',
    about: 'Lists the API keys of callers, in pages.',
    input: {
      type: 'object',
      properties: {
        tenant: { type: 'string', maxLength: 256 },
        after: { type: 'string', maxLength: 64 },
      },
    },
    output: {
      type: 'object',
      required: ['keys'],
      properties: {
        keys: { type: 'array', items: { $ref: 'Key' } },
        next: { type: 'string' },
      },
    },
  },
  revokeKey: {
    method: 'POST',
    path: '/api/keys/{id}/revoke',
    about: 'Revokes an API key. It takes effect everywhere within five seconds.',
    needs: 'keys:manage',
    input: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', maxLength: 64 } },
    },
    output: { type: 'object', properties: {} },
  },
} as const
