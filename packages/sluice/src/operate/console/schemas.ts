/** What the API of the console speaks of, as JSON Schema: plain literals, from which `FromSchema` computes the types. */

export const schemas = {
  Operator: {
    type: 'object',
    description: 'Who is signed in, or whose key it is.',
    required: ['name', 'scopes', 'tenants'],
    properties: {
      name: { type: 'string' },
      scopes: { type: 'array', items: { enum: ['approvals:decide', 'keys:manage', 'audit:export'] } },
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
      effect: {
        type: 'array',
        description: 'What the call acts on, as the tool states it. Absent if it states nothing.',
        items: {
          type: 'object',
          required: ['label', 'value'],
          properties: { label: { type: 'string' }, value: { type: 'string' } },
        },
      },
      arguments: { type: 'string', description: 'Canonical JSON (RFC 8785), whole.' },
      answers: { type: 'string', description: 'What the person was asked before, in the same form.' },
      digest: {
        type: 'string',
        description: 'SHA-256 over arguments, answers and effect: what the decision is bound to.',
      },
      status: { enum: ['pending', 'approved', 'denied', 'expired', 'running', 'done', 'failed', 'in doubt', 'void'] },
      definition: {
        type: 'string',
        description: 'SHA-256 over the tool as it was then: its entry, policy, rule, and the server.',
      },
      approver: { enum: ['owner', 'other', 'client'] },
      needed: { type: 'integer', description: 'So many different people must approve.' },
      of: { type: 'array', description: 'Only these may.', items: { type: 'string' } },
      decisions: { type: 'array', items: { $ref: 'Decision' } },
      task: {
        type: 'string',
        description: 'The task that waits for this ticket, and runs when its caller looks at it.',
      },
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
          status: {
            enum: ['pending', 'approved', 'denied', 'expired', 'running', 'done', 'failed', 'in doubt', 'void'],
          },
        },
      },
    },
  },
  TicketSummary: {
    type: 'object',
    description: 'A ticket in a list. Decide by the ticket itself: only an excerpt of what would run is here.',
    required: [
      'id',
      'server',
      'tenant',
      'caller',
      'tool',
      'hints',
      'excerpt',
      'digest',
      'status',
      'decided',
      'createdAt',
      'expiresAt',
      'mayDecide',
    ],
    properties: {
      id: { type: 'string' },
      server: { type: 'string' },
      tenant: { type: 'string' },
      caller: { type: 'string' },
      tool: { type: 'string' },
      title: { type: 'string' },
      hints: { type: 'array', items: { enum: ['read-only', 'destructive', 'idempotent', 'open-world'] } },
      excerpt: {
        type: 'string',
        description: 'What it would act on, and the beginning of the arguments; ends with … if there is more.',
      },
      digest: { type: 'string' },
      status: { enum: ['pending', 'approved', 'denied', 'expired', 'running', 'done', 'failed', 'in doubt', 'void'] },
      decided: { type: 'integer', description: 'How many people have decided so far.' },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
      mayDecide: { type: 'boolean', description: 'Whether you may, as far as can be told now.' },
    },
  },
  TicketPage: {
    type: 'object',
    required: ['tickets', 'pending'],
    properties: {
      tickets: { type: 'array', items: { $ref: 'TicketSummary' } },
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
      arguments: {
        type: 'string',
        description: 'Which: any, exactly these, or those that include these; ends with … if there is more.',
      },
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
    required: ['seq', 'requests', 'seconds', 'counts'],
    properties: {
      seq: { type: 'number', description: 'Whatever passes later has a larger one.' },
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
      problem: { enum: ['altered', 'missing', 'inserted', 'unsigned'] },
      checkpoint: {
        type: 'object',
        description: 'Where the chain begins now: its oldest records were pruned.',
        required: ['seq', 'at'],
        properties: {
          seq: { type: 'integer', description: 'The last record that was pruned.' },
          at: { type: 'number' },
          defect: {
            type: 'object',
            description: 'The first pruned record that was not as it was written; pruned by force.',
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
  Problem: {
    type: 'object',
    description: 'The body of every refusal.',
    required: ['reason', 'message'],
    properties: { reason: { type: 'string' }, message: { type: 'string' } },
  },
} as const

export type ConsoleSchemas = typeof schemas

/** The type a schema stands for. */
export type FromSchema<S> = S extends { readonly $ref: infer Name extends keyof ConsoleSchemas }
  ? FromSchema<ConsoleSchemas[Name]>
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Items }
            ? readonly FromSchema<Items>[]
            : S extends { readonly additionalProperties: infer Value }
              ? { readonly [name: string]: FromSchema<Value> }
              : S extends { readonly properties: infer Properties }
                ? ObjectFields<Properties, S extends { readonly required: readonly (infer R)[] } ? R : never>
                : unknown
type ObjectFields<P, Required> = {
  readonly [Name in keyof P as Name extends Required ? Name : never]: FromSchema<P[Name]>
} & { readonly [Name in keyof P as Name extends Required ? never : Name]?: FromSchema<P[Name]> }
