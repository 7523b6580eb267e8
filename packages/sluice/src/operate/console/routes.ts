/** What can be asked of the console, with what, and what comes back. */

/** `needs` is a scope of the operator; what has none is open to everybody who is signed in. */
export const routes = {
  signIn: {
    method: 'POST',
    path: '/api/session',
    about: 'Signs in with a one-time link or an operator key; the answer sets the cookie.',
    input: {
      type: 'object',
      properties: { link: { type: 'string', maxLength: 256 }, key: { type: 'string', maxLength: 256 } },
    },
    output: { $ref: 'Session' },
  },
  getSession: {
    method: 'GET',
    path: '/api/session',
    about: 'Who you are.',
    input: { type: 'object', properties: {} },
    output: { $ref: 'Session' },
  },
  signOut: {
    method: 'POST',
    path: '/api/session/end',
    about: 'Ends the session; the cookie is worth nothing from then on.',
    input: { type: 'object', properties: {} },
    output: { type: 'object', properties: {} },
  },
  listTickets: {
    method: 'GET',
    path: '/api/tickets',
    about:
      'Tickets in short, pending ones first, oldest first among them; then the others, newest first. What one would run is in the ticket itself.',
    input: {
      type: 'object',
      properties: {
        status: { enum: ['pending', 'decided'] },
        server: { type: 'string', maxLength: 256 },
        tenant: { type: 'string', maxLength: 256 },
        tool: { type: 'string', maxLength: 256 },
        after: { type: 'string', maxLength: 1024 },
        limit: { type: 'integer', minimum: 1, maximum: 200 },
      },
    },
    output: { $ref: 'TicketPage' },
  },
  getTicket: {
    method: 'GET',
    path: '/api/tickets/{id}',
    about: 'One ticket.',
    input: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', maxLength: 256 } },
    },
    output: { $ref: 'Ticket' },
  },
  decideTicket: {
    method: 'POST',
    path: '/api/tickets/{id}/decision',
    about:
      'Approves or denies. `digest` is the one you saw: where it is another, nothing is decided. Takes the scope `approvals:decide`; without it, people decide what their own agents ask, where the approver is the owner.',
    input: {
      type: 'object',
      required: ['id', 'approved', 'digest'],
      properties: {
        id: { type: 'string', maxLength: 256 },
        approved: { type: 'boolean' },
        digest: { type: 'string', maxLength: 256 },
        note: { type: 'string', maxLength: 2000 },
      },
    },
    output: { $ref: 'Ticket' },
  },
  resolveTicket: {
    method: 'POST',
    path: '/api/tickets/{id}/resolution',
    about:
      'Says what became of a ticket in doubt, when somebody found out. `did not run`: it may, while its time is not up.',
    needs: 'approvals:decide',
    input: {
      type: 'object',
      required: ['id', 'verdict'],
      properties: { id: { type: 'string', maxLength: 256 }, verdict: { enum: ['ran', 'did not run'] } },
    },
    output: { $ref: 'Ticket' },
  },
  createGrant: {
    method: 'POST',
    path: '/api/tickets/{id}/grant',
    about: 'Lets the same caller use the same tool, as it is defined now, without asking, for a while.',
    needs: 'approvals:decide',
    input: {
      type: 'object',
      required: ['id', 'arguments', 'lastMs'],
      properties: {
        id: { type: 'string', maxLength: 256 },
        arguments: { enum: ['exactly', 'any'], description: 'The very arguments of the ticket, or any.' },
        lastMs: { type: 'integer', minimum: 1, maximum: 9007199254740991 },
        note: { type: 'string', maxLength: 1000 },
      },
    },
    output: { $ref: 'Grant' },
  },
  listGrants: {
    method: 'GET',
    path: '/api/grants',
    about: 'What is allowed without asking again, and until when, a page at a time.',
    input: { type: 'object', properties: { after: { type: 'string', maxLength: 1024 } } },
    output: {
      type: 'object',
      required: ['grants', 'longestMs'],
      properties: {
        grants: { type: 'array', items: { $ref: 'Grant' } },
        next: { type: 'string', description: 'Where the next page begins; absent on the last.' },
        longestMs: { type: 'integer', description: 'The longest a new one may last; 0 where grants are off.' },
      },
    },
  },
  revokeGrant: {
    method: 'POST',
    path: '/api/grants/{id}/revoke',
    about: 'Ends a grant; the next call asks again.',
    needs: 'approvals:decide',
    input: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', maxLength: 256 } },
    },
    output: { type: 'object', properties: {} },
  },
  getLive: {
    method: 'GET',
    path: '/api/live',
    about: 'The last requests, the last five minutes by the second, and the counts of the moment.',
    input: {
      type: 'object',
      properties: {
        server: { type: 'string', maxLength: 256 },
        tenant: { type: 'string', maxLength: 256 },
        tool: { type: 'string', maxLength: 256 },
        outcome: { enum: ['ok', 'failed', 'shed'] },
      },
    },
    output: { $ref: 'Live' },
  },
  listServers: {
    method: 'GET',
    path: '/api/servers',
    about: 'Every server with its tools: schema, who may call, approval rule, calls and errors.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['servers'],
      properties: { servers: { type: 'array', items: { $ref: 'Server' } } },
    },
  },
  listTenants: {
    method: 'GET',
    path: '/api/tenants',
    about: 'Every tenant that is known here, with what it used in the last minute.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['tenants'],
      properties: { tenants: { type: 'array', items: { $ref: 'Tenant' } } },
    },
  },
  listKeys: {
    method: 'GET',
    path: '/api/keys',
    about: 'API keys of callers, a page at a time.',
    input: {
      type: 'object',
      properties: {
        tenant: { type: 'string', maxLength: 256 },
        after: { type: 'string', maxLength: 64 },
      },
    },
    output: {
      type: 'object',
      required: ['keys'],
      properties: {
        keys: { type: 'array', items: { $ref: 'Key' } },
        next: { type: 'string' },
      },
    },
  },
  revokeKey: {
    method: 'POST',
    path: '/api/keys/{id}/revoke',
    about: 'Takes effect everywhere within five seconds.',
    needs: 'keys:manage',
    input: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', maxLength: 64 } },
    },
    output: { type: 'object', properties: {} },
  },
  listAudit: {
    method: 'GET',
    path: '/api/audit',
    about: 'Audit records of a tenant, newest first, with a text to look for.',
    input: {
      type: 'object',
      required: ['tenant'],
      properties: {
        tenant: { type: 'string', maxLength: 256 },
        text: { type: 'string', maxLength: 256 },
        before: { type: 'integer', minimum: 1, maximum: 9007199254740991 },
      },
    },
    output: { $ref: 'AuditPage' },
  },
  verifyAudit: {
    method: 'POST',
    path: '/api/audit/verify',
    about:
      'Recomputes the hash chain of a tenant, from its checkpoint on, and names the first record that is not as it was written.',
    needs: 'audit:export',
    input: { type: 'object', required: ['tenant'], properties: { tenant: { type: 'string', maxLength: 256 } } },
    output: { $ref: 'Verdict' },
  },
} as const
