/** The audit. */

export const auditRoutes = {
  listAudit: {
    method: 'GET',
    path: '/api/audit',
    about:
      'Lists or searches the audit records of one tenant, or of all tenants that you may see, newest first. With more than 100 tenants, name one.',
    input: {
      type: 'object',
      properties: {
        tenant: { type: 'string', maxLength: 256, description: 'All by default.' },
        text: { type: 'string', maxLength: 256 },
        before: {
          type: 'string',
          maxLength: 8192,
          description: 'The cursor of the previous page.',
        },
      },
    },
    output: { $ref: 'AuditPage' },
  },
  verifyAudit: {
    method: 'POST',
    path: '/api/audit/verify',
    about:
      'Recomputes the hash chain of a tenant from its checkpoint on, and returns the first record that was changed.',
    needs: 'audit:export',
    input: { type: 'object', required: ['tenant'], properties: { tenant: { type: 'string', maxLength: 256 } } },
    output: { $ref: 'Verdict' },
  },
} as const
