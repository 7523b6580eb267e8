/** Tickets and grants. */

export const ticketRoutes = {
  listTickets: {
    method: 'GET',
    path: '/api/tickets',
    about:
      'Lists tickets in short form: pending ones first, oldest first, then the others, newest first. The ticket itself has everything that would run.',
    input: {
      type: 'object',
      properties: {
        status: { enum: ['pending', 'decided'] },
        server: { type: 'string', maxLength: 256 },
        tenant: { type: 'string', maxLength: 256 },
        tool: { type: 'string', maxLength: 256 },
        caller: { type: 'string', maxLength: 256 },
        text: {
          type: 'string',
          maxLength: 256,
          description: 'Only tickets with this text in their arguments, effect or names. Case does not matter.',
        },
        after: { type: 'string', maxLength: 1024 },
        limit: { type: 'integer', minimum: 1, maximum: 200 },
      },
    },
    output: { $ref: 'TicketPage' },
  },
  getTicket: {
    method: 'GET',
    path: '/api/tickets/{id}',
    about: 'Returns one ticket.',
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
      'Approves or denies a ticket. `digest` is the one you saw; if the ticket has another, nothing is decided. Needs the scope `approvals:decide`. Without it, people may decide only for their own agents, if the approver is the owner.',
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
  takeBackTicket: {
    method: 'POST',
    path: '/api/tickets/{id}/take-back',
    about:
      'Takes back your own approval. The ticket is then denied. Refused with `conflict` if the call has begun to run.',
    input: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', maxLength: 256 } },
    },
    output: { $ref: 'Ticket' },
  },
  getTicketContext: {
    method: 'GET',
    path: '/api/tickets/{id}/context',
    about:
      'Returns what the caller of a ticket did in the last ten minutes, according to the audit, and what came of the ticket.',
    input: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', maxLength: 256 } },
    },
    output: { $ref: 'TicketContext' },
  },
  resolveTicket: {
    method: 'POST',
    path: '/api/tickets/{id}/resolution',
    about:
      'Records what became of a ticket in doubt, after a person has found out. With `did not run` it may run again until it expires.',
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
    about: 'Lets the same caller use the same tool, as it is defined now, without approval for a limited time.',
    needs: 'approvals:decide',
    input: {
      type: 'object',
      required: ['id', 'arguments', 'lastMs'],
      properties: {
        id: { type: 'string', maxLength: 256 },
        arguments: { enum: ['exactly', 'any'], description: 'Exactly the arguments of the ticket, or any.' },
        lastMs: { type: 'integer', minimum: 1, maximum: 9007199254740991 },
        note: { type: 'string', maxLength: 1000 },
      },
    },
    output: { $ref: 'Grant' },
  },
  listGrants: {
    method: 'GET',
    path: '/api/grants',
    about: 'Lists grants with their expiry, in pages.',
    input: { type: 'object', properties: { after: { type: 'string', maxLength: 1024 } } },
    output: {
      type: 'object',
      required: ['grants', 'longestMs'],
      properties: {
        grants: { type: 'array', items: { $ref: 'Grant' } },
        next: { type: 'string', description: 'The cursor of the next page; absent on the last.' },
        longestMs: { type: 'integer', description: 'The maximum duration of a new grant; 0 if grants are off.' },
      },
    },
  },
  revokeGrant: {
    method: 'POST',
    path: '/api/grants/{id}/revoke',
    about: 'Revokes a grant. The next call needs an approval again.',
    needs: 'approvals:decide',
    input: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', maxLength: 256 } },
    },
    output: { type: 'object', properties: {} },
  },
} as const
