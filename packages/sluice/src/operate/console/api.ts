/**
 * The API behind the console, as one table: what can be asked, with what, and what comes back. The handlers, the page's
 * client, the checks of what comes in and the OpenAPI document are all made from it, so none of them can say otherwise.
 *
 * Imports nothing: the page takes it in, too. The schemas are JSON Schema; `Shape` turns them into types.
 */

export const shapes = {
  Operator: {
    type: 'object',
    description: 'Who is signed in, or whose key it is.',
    required: ['name', 'scopes', 'tenants'],
    properties: {
      name: { type: 'string' },
      scopes: { type: 'array', items: { enum: ['approvals:decide', 'keys:manage'] } },
      tenants: { type: 'array', description: 'Empty: all of them.', items: { type: 'string' } },
    },
  },
  Session: {
    type: 'object',
    required: ['operator', 'csrf', 'expiresAt', 'now', 'servers'],
    properties: {
      operator: { $ref: 'Operator' },
      csrf: { type: 'string', description: 'Goes into the header x-csrf-token of every change made with the cookie.' },
      expiresAt: { type: 'number' },
      now: { type: 'number', description: "The server's clock, for countdowns." },
      servers: { type: 'array', items: { type: 'string' } },
    },
  },
  Decision: {
    type: 'object',
    required: ['by', 'via', 'approved', 'at'],
    properties: {
      by: { type: 'string' },
      via: { enum: ['console', 'command', 'webhook', 'protocol'] },
      approved: { type: 'boolean' },
      note: { type: 'string' },
      at: { type: 'number' },
    },
  },
  Ticket: {
    type: 'object',
    description: 'A gated call that waits for a person, or has been decided.',
    required: [
      'id',
      'server',
      'tenant',
      'caller',
      'tool',
      'description',
      'hints',
      'arguments',
      'answers',
      'digest',
      'definition',
      'status',
      'approver',
      'needed',
      'decisions',
      'createdAt',
      'expiresAt',
      'mayDecide',
    ],
    properties: {
      id: { type: 'string' },
      server: { type: 'string' },
      tenant: { type: 'string' },
      caller: { type: 'string' },
      client: { type: 'string', description: 'What the client calls itself. Nobody vouches for it.' },
      tool: { type: 'string' },
      title: { type: 'string' },
      description: { type: 'string' },
      hints: { type: 'array', items: { enum: ['read-only', 'destructive', 'idempotent', 'open-world'] } },
      arguments: { type: 'string', description: 'Canonical JSON (RFC 8785), whole.' },
      answers: { type: 'string', description: 'What the person was asked before, in the same form.' },
      digest: { type: 'string', description: 'SHA-256 over arguments and answers: what the decision is bound to.' },
      status: { enum: ['pending', 'approved', 'denied', 'expired', 'running', 'done', 'failed', 'in doubt'] },
      definition: {
        type: 'string',
        description: 'SHA-256 over the tool as it was then: its entry, policy, rule, and the server.',
      },
      approver: { enum: ['owner', 'other', 'client'] },
      needed: { type: 'integer', description: 'So many different people must approve.' },
      of: { type: 'array', description: 'Only these may.', items: { type: 'string' } },
      decisions: { type: 'array', items: { $ref: 'Decision' } },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
      mayDecide: { type: 'boolean', description: 'Whether you may, as far as can be told now.' },
      previous: {
        type: 'object',
        description: 'The last approved call of the same tool by the same caller, to compare with.',
        required: ['id', 'arguments', 'status'],
        properties: {
          id: { type: 'string' },
          arguments: { type: 'string' },
          status: { enum: ['pending', 'approved', 'denied', 'expired', 'running', 'done', 'failed', 'in doubt'] },
        },
      },
    },
  },
  TicketPage: {
    type: 'object',
    required: ['tickets', 'pending'],
    properties: {
      tickets: { type: 'array', items: { $ref: 'Ticket' } },
      pending: { type: 'integer', description: 'All that wait and that you may see.' },
      next: { type: 'string', description: 'The cursor of the next page; absent on the last.' },
    },
  },
  Rule: {
    type: 'object',
    required: ['place', 'text'],
    properties: {
      place: { type: 'integer', description: 'Lower ones go first; the first that fits decides.' },
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
      arguments: { type: 'string', description: 'Which: any, exactly these, or those that include these.' },
      by: { type: 'string' },
      note: { type: 'string' },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
    },
  },
  Request: {
    type: 'object',
    description: 'One message that passed, without its arguments.',
    required: ['seq', 'at', 'server', 'tenant', 'caller', 'method', 'outcome', 'failed', 'durationMs', 'transport'],
    properties: {
      seq: { type: 'integer' },
      at: { type: 'number' },
      server: { type: 'string' },
      tenant: { type: 'string' },
      caller: { type: 'string' },
      client: { type: 'string' },
      method: { type: 'string' },
      tool: { type: 'string', description: 'The tool, resource or prompt.' },
      outcome: { type: 'string' },
      failed: { type: 'boolean' },
      durationMs: { type: 'number' },
      transport: { type: 'string' },
      reference: { type: 'string', description: 'The name the client was given for a failure.' },
      message: { type: 'string', description: 'Why it failed, without what the caller sent.' },
    },
  },
  Second: {
    type: 'object',
    description: 'What passed in one second. Percentiles are absent where nothing did.',
    required: ['at', 'calls', 'errors', 'shed'],
    properties: {
      at: { type: 'number' },
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      shed: { type: 'integer', description: 'Refused by limits or load.' },
      p50: { type: 'number' },
      p95: { type: 'number' },
      p99: { type: 'number' },
    },
  },
  Count: {
    type: 'object',
    description: 'A number some part of a server keeps: its queue, its stragglers, what it dropped.',
    required: ['server', 'name', 'help', 'value'],
    properties: {
      server: { type: 'string' },
      name: { type: 'string' },
      help: { type: 'string' },
      value: { type: 'number' },
    },
  },
  Live: {
    type: 'object',
    required: ['requests', 'seconds', 'counts'],
    properties: {
      requests: { type: 'array', items: { $ref: 'Request' } },
      seconds: { type: 'array', items: { $ref: 'Second' } },
      counts: { type: 'array', items: { $ref: 'Count' } },
    },
  },
  Tool: {
    type: 'object',
    required: ['server', 'name', 'description', 'hints', 'scopes', 'approval', 'timeoutMs', 'input', 'calls', 'errors'],
    properties: {
      server: { type: 'string' },
      name: { type: 'string' },
      title: { type: 'string' },
      description: { type: 'string' },
      hints: { type: 'array', items: { enum: ['read-only', 'destructive', 'idempotent', 'open-world'] } },
      scopes: {
        type: 'array',
        description: 'All are needed to call it; none: whoever is let in.',
        items: { type: 'string' },
      },
      approval: { type: 'string', description: 'When a person must approve.' },
      timeoutMs: { type: 'number', description: 'Absent or 0: no end.' },
      input: { description: 'Its JSON Schema.' },
      output: { description: 'Its JSON Schema.' },
      calls: { type: 'integer', description: 'Since the start of this process.' },
      errors: { type: 'integer' },
    },
  },
  Server: {
    type: 'object',
    required: ['name', 'version', 'tools', 'rules'],
    properties: {
      name: { type: 'string' },
      title: { type: 'string' },
      version: { type: 'string' },
      description: { type: 'string' },
      tools: { type: 'array', items: { $ref: 'Tool' } },
      rules: { type: 'array', items: { $ref: 'Rule' } },
    },
  },
  Tenant: {
    type: 'object',
    description: 'What one tenant used in the last minute, as far as this process saw.',
    required: ['id', 'servers', 'calls', 'errors', 'limited'],
    properties: {
      id: { type: 'string' },
      servers: { type: 'array', items: { type: 'string' } },
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      limited: { type: 'integer', description: 'Refused because a limit was reached.' },
      p95: { type: 'number' },
      limits: { type: 'array', items: { $ref: 'Limit' } },
    },
  },
  Limit: {
    type: 'object',
    required: ['server', 'name', 'used', 'most'],
    properties: {
      server: { type: 'string' },
      name: { type: 'string', description: 'What is limited: calls at once, waiting.' },
      used: { type: 'number' },
      most: { type: 'number' },
    },
  },
  Key: {
    type: 'object',
    description: 'An API key, without the key.',
    required: ['id', 'prefix', 'subject', 'label', 'scopes', 'tenants', 'created'],
    properties: {
      id: { type: 'string' },
      prefix: { type: 'string' },
      subject: { type: 'string' },
      label: { type: 'string' },
      scopes: { type: 'array', items: { type: 'string' } },
      tenants: { type: 'array', items: { type: 'string' } },
      created: { type: 'number' },
      expires: { type: 'number' },
      lastUse: { type: 'number' },
      revoked: { type: 'number' },
    },
  },
  AuditRecord: {
    type: 'object',
    required: ['seq', 'at', 'kind', 'hash', 'fields'],
    properties: {
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
      scanned: { type: 'integer', description: 'How many were looked at.' },
      before: { type: 'integer', description: 'Where to go on; absent when the beginning was reached.' },
    },
  },
  Verdict: {
    type: 'object',
    required: ['intact'],
    properties: {
      intact: { type: 'boolean' },
      records: { type: 'integer' },
      head: { type: 'string' },
      seq: { type: 'integer', description: 'The first record that is not as it was written.' },
      problem: { enum: ['altered', 'missing', 'inserted'] },
    },
  },
  Problem: {
    type: 'object',
    description: 'The body of every refusal.',
    required: ['reason', 'message'],
    properties: { reason: { type: 'string' }, message: { type: 'string' } },
  },
} as const

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
    about: 'Tickets, pending ones first, oldest first among them; then the others, newest first.',
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
    about: 'What is allowed without asking again, and until when.',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      required: ['grants', 'longestMs'],
      properties: {
        grants: { type: 'array', items: { $ref: 'Grant' } },
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
    about: 'Recomputes the hash chain of a tenant and names the first record that is not as it was written.',
    input: { type: 'object', required: ['tenant'], properties: { tenant: { type: 'string', maxLength: 256 } } },
    output: { $ref: 'Verdict' },
  },
} as const

export type Routes = typeof routes
export type RouteName = keyof Routes
type Shapes = typeof shapes

/** The type a schema stands for. */
export type Shape<S> = S extends { readonly $ref: infer Name extends keyof Shapes }
  ? Shape<Shapes[Name]>
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Items }
            ? readonly Shape<Items>[]
            : S extends { readonly additionalProperties: infer Value }
              ? { readonly [name: string]: Shape<Value> }
              : S extends { readonly properties: infer Properties }
                ? Fields<Properties, S extends { readonly required: readonly (infer R)[] } ? R : never>
                : unknown
type Fields<P, Required> = {
  readonly [Name in keyof P as Name extends Required ? Name : never]: Shape<P[Name]>
} & { readonly [Name in keyof P as Name extends Required ? never : Name]?: Shape<P[Name]> }

export type Input<Name extends RouteName> = Shape<Routes[Name]['input']>
export type Output<Name extends RouteName> = Shape<Routes[Name]['output']>

export type Operator = Shape<Shapes['Operator']>
export type Session = Shape<Shapes['Session']>
export type Ticket = Shape<Shapes['Ticket']>
export type TicketPage = Shape<Shapes['TicketPage']>
export type Grant = Shape<Shapes['Grant']>
export type Request = Shape<Shapes['Request']>
export type Second = Shape<Shapes['Second']>
export type Count = Shape<Shapes['Count']>
export type Live = Shape<Shapes['Live']>
export type Tool = Shape<Shapes['Tool']>
export type ServerInfo = Shape<Shapes['Server']>
export type Tenant = Shape<Shapes['Tenant']>
export type Limit = Shape<Shapes['Limit']>
export type Key = Shape<Shapes['Key']>
export type AuditRecord = Shape<Shapes['AuditRecord']>
export type Verdict = Shape<Shapes['Verdict']>
export type Problem = Shape<Shapes['Problem']>

/** What `GET /api/events` sends, by the name of the event. Server-sent events, so no JSON Schema of its own. */
export interface Events {
  /** Tickets came, were decided or expired: ask again. */
  readonly tickets: { readonly pending: number }
  /** What passed since, at most a screenful; `missed` is how many more there were. */
  readonly requests: { readonly requests: readonly Request[]; readonly missed: number }
  readonly second: { readonly second: Second; readonly counts: readonly Count[] }
  /** The session is over. */
  readonly over: Record<string, never>
}
