/** The routes of the console's API, with their inputs and outputs. */

/** `needs` is a scope of the operator. Routes without it are open to every signed-in operator. */
export const routes = {
  signIn: {
    method: 'POST',
    path: '/api/session',
    about: 'Signs in with a one-time link or an operator key. The response sets the cookie.',
    input: {
      type: 'object',
      properties: { link: { type: 'string', maxLength: 256 }, key: { type: 'string', maxLength: 256 } },
    },
    output: { $ref: 'Session' },
  },
  getSession: {
    method: 'GET',
    path: '/api/session',
    about: 'Returns the current session.',
    input: { type: 'object', properties: {} },
    output: { $ref: 'Session' },
  },
  signOut: {
    method: 'POST',
    path: '/api/session/end',
    about: 'Ends the session. The cookie becomes invalid.',
    input: { type: 'object', properties: {} },
    output: { type: 'object', properties: {} },
  },
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
  getLive: {
    method: 'GET',
    path: '/api/live',
    about: 'Returns the last requests, the last five minutes by the second, and the current gauges.',
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
    about: 'Lists every server with its tools: schema, scopes, approval rule, calls and errors.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['servers'],
      properties: { servers: { type: 'array', items: { $ref: 'Server' } } },
    },
  },
  tryTool: {
    method: 'POST',
    path: '/api/servers/{server}/tools/{tool}/try',
    about:
      'Calls a tool as an API key, through all layers of its server: scopes, limits and approvals apply. The audit names you and the key.',
    needs: 'tools:call',
    input: {
      type: 'object',
      required: ['server', 'tool', 'arguments'],
      properties: {
        server: { type: 'string', maxLength: 256 },
        tool: { type: 'string', maxLength: 256 },
        key: { type: 'string', maxLength: 64, description: 'The id of the key. Needed if the server authenticates.' },
        tenant: { type: 'string', maxLength: 256, description: 'Needed if the key has several tenants.' },
        arguments: { type: 'string', maxLength: 60000, description: 'The arguments as the text of a JSON object.' },
      },
    },
    output: { $ref: 'Attempt' },
  },
  getHistory: {
    method: 'GET',
    path: '/api/history',
    about: 'Returns the last day by the minute, for all processes. Minutes without calls are absent.',
    input: {
      type: 'object',
      properties: { server: { type: 'string', maxLength: 256 }, tenant: { type: 'string', maxLength: 256 } },
    },
    output: {
      type: 'object',
      required: ['minutes', 'processes'],
      properties: {
        minutes: { type: 'array', items: { $ref: 'Minute' } },
        processes: { type: 'integer', description: 'The number of processes that wrote in this day.' },
      },
    },
  },
  listClients: {
    method: 'GET',
    path: '/api/clients',
    about: 'Lists the configurations that connect clients, with a placeholder for the key.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['clients'],
      properties: { clients: { type: 'array', items: { $ref: 'ClientFile' } } },
    },
  },
  listUpstreams: {
    method: 'GET',
    path: '/api/upstreams',
    about: 'Lists the servers behind the gateway, as this process sees them.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['upstreams'],
      properties: { upstreams: { type: 'array', items: { $ref: 'Upstream' } } },
    },
  },
  restartUpstream: {
    method: 'POST',
    path: '/api/upstreams/{name}/restart',
    about:
      'Ends the connections of an upstream and lists its definitions again. Calls in flight are in doubt. Only for operators of all tenants.',
    needs: 'upstreams:manage',
    input: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 256 } } },
    output: { type: 'object', properties: {} },
  },
  getDefinitions: {
    method: 'GET',
    path: '/api/upstreams/{name}/definitions',
    about: 'Returns the definitions of an upstream that differ from the accepted ones, line by line.',
    input: { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 256 } } },
    output: {
      type: 'object',
      required: ['definitions'],
      properties: { definitions: { type: 'array', items: { $ref: 'Definition' } } },
    },
  },
  decideDefinition: {
    method: 'POST',
    path: '/api/upstreams/{name}/definitions/decision',
    about:
      'Accepts or rejects one definition. `hash` is the one you saw; if the upstream lists another, nothing is decided. Only for operators of all tenants.',
    needs: 'upstreams:manage',
    input: {
      type: 'object',
      required: ['name', 'id', 'hash', 'accepted'],
      properties: {
        name: { type: 'string', maxLength: 256 },
        id: { type: 'string', maxLength: 8192 },
        hash: { type: 'string', maxLength: 256 },
        accepted: { type: 'boolean' },
      },
    },
    output: { type: 'object', properties: {} },
  },
  listAccess: {
    method: 'GET',
    path: '/api/access',
    about: 'Lists which tools of a server each valid key may call, with the reason for each no, in pages.',
    input: {
      type: 'object',
      required: ['server'],
      properties: { server: { type: 'string', maxLength: 256 }, after: { type: 'string', maxLength: 64 } },
    },
    output: {
      type: 'object',
      required: ['keys'],
      properties: { keys: { type: 'array', items: { $ref: 'Access' } }, next: { type: 'string' } },
    },
  },
  listTenants: {
    method: 'GET',
    path: '/api/tenants',
    about: 'Lists every known tenant with its usage in the last minute.',
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
    about: 'Lists the API keys of callers, in pages.',
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
    about: 'Revokes an API key. It takes effect everywhere within five seconds.',
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
