/** Servers and their tools. */

export const toolSchemas = {
  Tool: {
    type: 'object',
    required: [
      'server',
      'name',
      'description',
      'hints',
      'scopes',
      'approval',
      'timeoutMs',
      'input',
      'tokens',
      'calls',
      'errors',
    ],
    properties: {
      server: { type: 'string' },
      name: { type: 'string' },
      title: { type: 'string' },
      description: { type: 'string' },
      hints: { type: 'array', items: { enum: ['read-only', 'destructive', 'idempotent', 'open-world'] } },
      scopes: {
        type: 'array',
        description: 'All of them are needed to call it. Empty means that every authenticated caller may.',
        items: { type: 'string' },
      },
      approval: { type: 'string', description: 'When a person must approve.' },
      timeoutMs: { type: 'number', description: '0 or absent means no timeout.' },
      input: { description: 'The JSON Schema of the input.' },
      output: { description: 'The JSON Schema of the output.' },
      tokens: {
        type: 'integer',
        description:
          'What its definition costs a model, estimated: the characters of its entry in tools/list, divided by 4.',
      },
      calls: { type: 'integer', description: 'Since the start of this process.' },
      errors: { type: 'integer' },
    },
  },
  Server: {
    type: 'object',
    required: ['name', 'version', 'tools', 'rules', 'tokens', 'authenticated'],
    properties: {
      name: { type: 'string' },
      title: { type: 'string' },
      version: { type: 'string' },
      description: { type: 'string' },
      tools: { type: 'array', items: { $ref: 'Tool' } },
      rules: { type: 'array', items: { $ref: 'Rule' } },
      tokens: { type: 'integer', description: 'The sum over its tools.' },
      authenticated: { type: 'boolean', description: 'Whether callers need a key or a token.' },
    },
  },
} as const
