/** Error responses. */

export const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'The body of every error response.',
    required: ['reason', 'message'],
    properties: { reason: { type: 'string' }, message: { type: 'string' } },
  },
} as const
