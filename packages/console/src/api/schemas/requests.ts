/** Requests, one by one and by the minute. */

export const requestSchemas = {
  Request: {
    type: 'object',
    description: 'One handled message, without its arguments.',
    required: ['seq', 'at', 'server', 'tenant', 'caller', 'method', 'outcome', 'failed', 'durationMs', 'transport'],
    properties: {
      seq: { type: 'integer' },
      at: { type: 'number' },
      server: { type: 'string' },
      tenant: { type: 'string' },
      caller: { type: 'string' },
      client: { type: 'string' },
      method: { type: 'string' },
      tool: { type: 'string', description: 'The tool, resource or prompt.' },
      outcome: { type: 'string' },
      failed: { type: 'boolean' },
      durationMs: { type: 'number' },
      transport: { type: 'string' },
      ticket: { type: 'string', description: 'The ticket that the call made, waited for or spent.' },
      reference: { type: 'string', description: 'The id of a failure, as the client got it.' },
      message: { type: 'string', description: 'The cause of a failure, without data of the caller.' },
      layers: {
        type: 'array',
        description: 'The layers that the call reached, from the outside in. Measured only while a Live page is open.',
        items: { $ref: 'LayerTime' },
      },
      endedBy: {
        type: 'string',
        description: 'The layer that refused the call, or answered it without passing it on. `run` is the work itself.',
      },
    },
  },
  LayerTime: {
    type: 'object',
    required: ['name', 'ms'],
    properties: {
      name: { type: 'string' },
      ms: { type: 'number', description: 'The milliseconds in this layer, without the layers further in.' },
    },
  },
  Attempt: {
    type: 'object',
    description: 'How a call ended that a person made to try a tool.',
    required: ['answer', 'isWhole', 'outcome', 'failed', 'durationMs'],
    properties: {
      answer: { type: 'string', description: 'The result or the error, as JSON.' },
      isWhole: { type: 'boolean', description: 'Whether `answer` is complete.' },
      outcome: { type: 'string' },
      failed: { type: 'boolean' },
      durationMs: { type: 'number' },
      ticket: { type: 'string', description: 'The ticket that the call made, waited for or spent.' },
      message: { type: 'string', description: 'The cause of a failure.' },
      layers: { type: 'array', items: { $ref: 'LayerTime' } },
      endedBy: { type: 'string' },
    },
  },
  Minute: {
    type: 'object',
    description: 'The traffic of one minute in all processes. Percentiles are absent without calls.',
    required: ['at', 'calls', 'errors', 'shed', 'waiting'],
    properties: {
      at: { type: 'number' },
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      shed: { type: 'integer', description: 'Calls refused by rate limits or load.' },
      waiting: { type: 'integer', description: 'Calls that were answered with a wait for a person.' },
      p50: { type: 'number' },
      p95: { type: 'number' },
      p99: { type: 'number' },
    },
  },
} as const
