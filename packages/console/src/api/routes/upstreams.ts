/** The servers behind the gateway. */

export const upstreamRoutes = {
  listUpstreams: {
    method: 'GET',
    path: '/api/upstreams',
    about: 'Lists the servers behind the gateway, as this process sees them.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['upstreams'],
      properties: { upstreams: { type: 'array', items: { $ref: 'Upstream' } } },
    },
  },
  restartUpstream: {
    method: 'POST',
    path: '/api/upstreams/{name}/restart',
    about:
      'Ends the connections of an upstream and lists its definitions again. Calls in flight are in doubt. Only for operators of all tenants.',
    needs: 'upstreams:manage',
    input: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 256 } } },
    output: { type: 'object', properties: {} },
  },
  getDefinitions: {
    method: 'GET',
    path: '/api/upstreams/{name}/definitions',
    about: 'Returns the definitions of an upstream that differ from the accepted ones, line by line.',
    input: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 256 } } },
    output: {
      type: 'object',
      required: ['definitions'],
      properties: { definitions: { type: 'array', items: { $ref: 'Definition' } } },
    },
  },
  decideDefinition: {
    method: 'POST',
    path: '/api/upstreams/{name}/definitions/decision',
    about:
      'Accepts or rejects one definition. `hash` is the one you saw; if the upstream lists another, nothing is decided. Only for operators of all tenants.',
    needs: 'upstreams:manage',
    input: {
      type: 'object',
      required: ['name', 'id', 'hash', 'accepted'],
      properties: {
        name: { type: 'string', maxLength: 256 },
        id: { type: 'string', maxLength: 8192 },
        hash: { type: 'string', maxLength: 256 },
        accepted: { type: 'boolean' },
      },
    },
    output: { type: 'object', properties: {} },
  },
  startUpstreamSignIn: {
    method: 'POST',
    path: '/api/upstreams/{name}/sign-in',
    about:
      'Starts your own sign-in at an upstream. Returns the page to open, which is the same until it expires, 15 minutes later.',
    input: {
      type: 'object',
      required: ['name', 'tenant'],
      properties: {
        name: { type: 'string', maxLength: 256 },
        tenant: { type: 'string', maxLength: 256, description: 'One of your own tenants.' },
      },
    },
    output: { type: 'object', required: ['url'], properties: { url: { type: 'string' } } },
  },
  confirmUpstreamSignIn: {
    method: 'POST',
    path: '/api/upstreams/{name}/sign-in/code',
    about: 'Connects the account, if the code is the one that the page showed after the sign-in.',
    input: {
      type: 'object',
      required: ['name', 'tenant', 'code'],
      properties: {
        name: { type: 'string', maxLength: 256 },
        tenant: { type: 'string', maxLength: 256 },
        code: { type: 'string', maxLength: 40 },
      },
    },
    output: { type: 'object', properties: {} },
  },
  endUpstreamSignIn: {
    method: 'POST',
    path: '/api/upstreams/{name}/sign-out',
    about: 'Forgets your own tokens of an upstream, and revokes them at the authorization server if it offers that.',
    input: {
      type: 'object',
      required: ['name', 'tenant'],
      properties: { name: { type: 'string', maxLength: 256 }, tenant: { type: 'string', maxLength: 256 } },
    },
    output: { type: 'object', properties: {} },
  },
} as const
