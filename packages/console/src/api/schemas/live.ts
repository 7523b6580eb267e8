/** The traffic of the last minutes. */

export const liveSchemas = {
  Second: {
    type: 'object',
    description: 'The traffic of one second. Percentiles are absent without calls.',
    required: ['at', 'calls', 'errors', 'shed'],
    properties: {
      at: { type: 'number' },
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      shed: { type: 'integer', description: 'Calls refused by rate limits or load.' },
      p50: { type: 'number' },
      p95: { type: 'number' },
      p99: { type: 'number' },
    },
  },
  Count: {
    type: 'object',
    description: 'A gauge of a server: the length of its queue, its stragglers, its dropped messages.',
    required: ['server', 'name', 'help', 'value'],
    properties: {
      server: { type: 'string' },
      name: { type: 'string' },
      help: { type: 'string' },
      value: { type: 'number' },
    },
  },
  Running: {
    type: 'object',
    description: 'A task that a server of this process runs, and what it last said about itself.',
    required: ['id', 'server', 'tool', 'tenant', 'caller', 'startedAt'],
    properties: {
      id: { type: 'string' },
      server: { type: 'string' },
      tool: { type: 'string' },
      tenant: { type: 'string' },
      caller: { type: 'string' },
      startedAt: { type: 'number' },
      message: { type: 'string' },
    },
  },
  Live: {
    type: 'object',
    required: ['seq', 'requests', 'seconds', 'counts', 'running'],
    properties: {
      seq: { type: 'number', description: 'Later requests have a larger number.' },
      requests: { type: 'array', items: { $ref: 'Request' } },
      seconds: { type: 'array', items: { $ref: 'Second' } },
      counts: { type: 'array', items: { $ref: 'Count' } },
      running: { type: 'array', items: { $ref: 'Running' }, description: 'The oldest first, at most 50.' },
    },
  },
} as const
