/** What lets a call run without a decision: rules and grants. */

export const grantSchemas = {
  Rule: {
    type: 'object',
    required: ['place', 'text'],
    properties: {
      place: { type: 'integer', description: 'Lower ones go first. The first rule that matches decides.' },
      text: { type: 'string' },
    },
  },
  Grant: {
    type: 'object',
    description: 'An "always allow": scoped, expiring, revocable.',
    required: ['id', 'server', 'tenant', 'caller', 'tool', 'arguments', 'by', 'createdAt', 'expiresAt'],
    properties: {
      server: { type: 'string' },
      id: { type: 'string' },
      tenant: { type: 'string' },
      caller: { type: 'string' },
      tool: { type: 'string' },
      arguments: {
        type: 'string',
        description:
          'The covered arguments: any, exactly these, or all that include these. Ends with … if there is more.',
      },
      by: { type: 'string' },
      note: { type: 'string' },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
    },
  },
} as const
