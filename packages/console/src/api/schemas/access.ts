/** Which keys may call which tools. */

export const accessSchemas = {
  Access: {
    type: 'object',
    description: 'Which tools of a server one key may call, for one of its tenants.',
    required: ['key', 'prefix', 'subject', 'scopes', 'tools'],
    properties: {
      key: { type: 'string', description: 'The id of the key.' },
      prefix: { type: 'string' },
      subject: { type: 'string' },
      tenant: { type: 'string', description: 'Absent if the key has no tenants.' },
      scopes: { type: 'array', items: { type: 'string' } },
      tools: { type: 'array', items: { $ref: 'ToolAccess' } },
    },
  },
  ToolAccess: {
    type: 'object',
    required: ['name', 'outcome'],
    properties: {
      name: { type: 'string' },
      outcome: { enum: ['runs', 'needsApproval', 'dependsOnArguments', 'refused'] },
      reason: { type: 'string', description: 'Why it is refused.' },
    },
  },
} as const
