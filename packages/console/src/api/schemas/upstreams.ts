/** The servers behind the gateway. */

export const upstreamSchemas = {
  Upstream: {
    type: 'object',
    description: 'A server behind the gateway, as this process sees it.',
    required: [
      'name',
      'state',
      'transport',
      'definitions',
      'tools',
      'prompts',
      'resources',
      'templates',
      'inFlight',
      'restarts',
      'quarantined',
      'leftOut',
      'connections',
    ],
    properties: {
      name: { type: 'string' },
      state: { enum: ['ready', 'idle', 'starting', 'unavailable', 'backoff', 'crash-loop'] },
      transport: { enum: ['stdio', 'http', 'in-process'] },
      revision: { type: 'string', description: 'The protocol revision that it speaks.' },
      era: { enum: ['modern', 'legacy'], description: '`modern` is 2026-07-28 and later.' },
      definitions: {
        enum: ['unknown', 'stored', 'current'],
        description: '`stored`: they come from the store, because the upstream was not reached yet.',
      },
      tools: { type: 'integer' },
      prompts: { type: 'integer' },
      resources: { type: 'integer' },
      templates: { type: 'integer' },
      hash: { type: 'string', description: 'SHA-256 over everything that a model or a person sees of it.' },
      inFlight: { type: 'integer' },
      restarts: { type: 'integer' },
      p50: { type: 'number', description: 'The median of the last 100 calls, in milliseconds.' },
      p95: { type: 'number' },
      lastError: { type: 'string' },
      quarantined: { type: 'integer', description: 'New and changed definitions that wait for an operator.' },
      leftOut: {
        type: 'array',
        description: 'Definitions that are not served, with the reason.',
        items: {
          type: 'object',
          required: ['kind', 'name', 'reason'],
          properties: { kind: { type: 'string' }, name: { type: 'string' }, reason: { type: 'string' } },
        },
      },
      connections: {
        type: 'array',
        description: 'Operators of some tenants see only the connections of these tenants, without output and errors.',
        items: { $ref: 'Connection' },
      },
      signIn: { $ref: 'OwnSignIns' },
    },
  },
  OwnSignIns: {
    type: 'object',
    description: 'Your own sign-ins at an upstream. Absent if callers do not sign in to it.',
    required: ['caller', 'accounts'],
    properties: {
      caller: { type: 'string', description: 'Your name, which is the subject of your calls.' },
      reason: { type: 'string', description: 'Why you cannot sign in here. Absent if you can.' },
      accounts: {
        type: 'array',
        description: 'One for each of your tenants.',
        items: {
          type: 'object',
          required: ['tenant', 'state'],
          properties: {
            tenant: { type: 'string' },
            state: {
              enum: ['signed out', 'waiting', 'signed in'],
              description: '`waiting`: you consented, and the code on the page is missing.',
            },
            issuer: { type: 'string', description: 'The authorization server that gave the tokens.' },
            scope: { type: 'string' },
            expiresAt: { type: 'number', description: 'When the access token ends. It is refreshed before.' },
            wantsMore: { type: 'boolean', description: 'Whether the upstream refused a call for want of scopes.' },
          },
        },
      },
    },
  },
  Definition: {
    type: 'object',
    description: 'A definition of an upstream that differs from the accepted one. It is not served.',
    required: ['id', 'kind', 'name', 'state', 'hash', 'marks', 'lines'],
    properties: {
      id: { type: 'string' },
      kind: { enum: ['tool', 'prompt', 'template', 'instructions'] },
      name: { type: 'string' },
      state: { enum: ['new', 'changed', 'gone'], description: '`gone`: the upstream no longer lists it.' },
      hash: { type: 'string', description: 'SHA-256 over what a model or a person sees of it. Empty if it is gone.' },
      marks: { type: 'array', description: 'Why it needs a closer look.', items: { type: 'string' } },
      rejected: {
        type: 'object',
        description: 'The operator who rejected exactly this hash.',
        required: ['by', 'at'],
        properties: { by: { type: 'string' }, at: { type: 'number' } },
      },
      lines: {
        type: 'array',
        description: 'The definition as text, line by line against the accepted one.',
        items: {
          type: 'object',
          required: ['change', 'text'],
          properties: { change: { enum: ['same', 'added', 'removed'] }, text: { type: 'string' } },
        },
      },
    },
  },
} as const

export const connectionSchemas = {
  Connection: {
    type: 'object',
    description: 'One connection or process of an upstream.',
    required: ['key', 'state', 'restarts', 'inFlight'],
    properties: {
      key: { type: 'string', description: 'Whose calls share it.' },
      state: { enum: ['connecting', 'ready', 'backoff', 'crash-loop', 'closed'] },
      pid: { type: 'integer', description: 'The id of its process.' },
      startedAt: { type: 'number' },
      restarts: { type: 'integer' },
      inFlight: { type: 'integer' },
      revision: { type: 'string' },
      lastError: { type: 'string' },
      stderr: { type: 'array', description: 'The last lines of its standard error.', items: { type: 'string' } },
      skippedLines: { type: 'integer', description: 'Lines of its standard output that were not messages.' },
    },
  },
} as const
