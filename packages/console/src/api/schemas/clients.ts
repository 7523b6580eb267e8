/** The configurations of clients. */

export const clientSchemas = {
  ClientFile: {
    type: 'object',
    description: 'The configuration that connects one client. The key is a placeholder.',
    required: ['client', 'file', 'destination', 'text'],
    properties: {
      client: { type: 'string' },
      file: { type: 'string' },
      destination: { type: 'string', description: 'The place in the client where it belongs.' },
      text: { type: 'string' },
    },
  },
} as const
