/** The audit. */

export const auditSchemas = {
  AuditRecord: {
    type: 'object',
    required: ['tenant', 'seq', 'at', 'kind', 'hash', 'fields'],
    properties: {
      tenant: { type: 'string' },
      seq: { type: 'integer' },
      at: { type: 'number' },
      kind: { type: 'string' },
      hash: { type: 'string' },
      fields: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  AuditPage: {
    type: 'object',
    required: ['records', 'scanned'],
    properties: {
      records: { type: 'array', items: { $ref: 'AuditRecord' } },
      scanned: { type: 'integer', description: 'The number of records searched.' },
      before: { type: 'string', description: 'The cursor to continue with; absent at the oldest record.' },
    },
  },
  Verdict: {
    type: 'object',
    required: ['intact'],
    properties: {
      intact: { type: 'boolean' },
      records: { type: 'integer' },
      head: { type: 'string' },
      seq: { type: 'integer', description: 'The first record that was changed.' },
      problem: { enum: ['altered', 'missing', 'inserted', 'unsigned'] },
      checkpoint: {
        type: 'object',
        description: 'The start of the chain if its oldest records were pruned.',
        required: ['seq', 'at'],
        properties: {
          seq: { type: 'integer', description: 'The last record that was pruned.' },
          at: { type: 'number' },
          defect: {
            type: 'object',
            description: 'The first changed record among those that were pruned by force.',
            required: ['seq', 'problem'],
            properties: {
              seq: { type: 'integer' },
              problem: { enum: ['altered', 'missing', 'inserted', 'unsigned'] },
            },
          },
        },
      },
    },
  },
} as const
