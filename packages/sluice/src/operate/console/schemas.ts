/** The JSON Schemas of the console's API. They are plain literals, from which `FromSchema` computes the types. */

export const schemas = {
  Operator: {
    type: 'object',
    description: 'The signed-in operator, or the owner of the key.',
    required: ['name', 'scopes', 'tenants'],
    properties: {
      name: { type: 'string' },
      scopes: { type: 'array', items: { enum: ['approvals:decide', 'keys:manage', 'audit:export'] } },
      tenants: { type: 'array', description: 'Empty means all.', items: { type: 'string' } },
    },
  },
  Session: {
    type: 'object',
    required: ['operator', 'csrf', 'expiresAt', 'now', 'servers'],
    properties: {
      operator: { $ref: 'Operator' },
      csrf: { type: 'string', description: 'Send it in the header x-csrf-token of every change made with the cookie.' },
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
    description: 'A gated call that waits for a decision, or has one.',
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
      'mayTakeBack',
    ],
    properties: {
      id: { type: 'string' },
      server: { type: 'string' },
      tenant: { type: 'string' },
      caller: { type: 'string' },
      client: { type: 'string', description: 'The name that the client claims. It is unverified.' },
      tool: { type: 'string' },
      title: { type: 'string' },
      description: { type: 'string' },
      hints: { type: 'array', items: { enum: ['read-only', 'destructive', 'idempotent', 'open-world'] } },
      effect: {
        type: 'array',
        description: 'What the call acts on, as the tool states it. Absent if the tool states nothing.',
        items: {
          type: 'object',
          required: ['label', 'value'],
          properties: { label: { type: 'string' }, value: { type: 'string' } },
        },
      },
      arguments: { type: 'string', description: 'The complete arguments as canonical JSON (RFC 8785).' },
      answers: { type: 'string', description: 'The answers to the tool’s questions, in the same form.' },
      digest: {
        type: 'string',
        description: 'SHA-256 over arguments, answers and effect. The decision is bound to it.',
      },
      status: { enum: ['pending', 'approved', 'denied', 'expired', 'running', 'done', 'failed', 'in doubt', 'void'] },
      definition: {
        type: 'string',
        description: 'SHA-256 over the tool when the ticket was made: its entry, policy and rule, and the server.',
      },
      approver: { enum: ['owner', 'other', 'client'] },
      needed: { type: 'integer', description: 'The number of different people who must approve.' },
      of: { type: 'array', description: 'Only these people may decide.', items: { type: 'string' } },
      rule: {
        type: 'string',
        description: "The operator's rule that decided, in words. Absent if the tool alone asks for an approval.",
      },
      decisions: { type: 'array', items: { $ref: 'Decision' } },
      task: {
        type: 'string',
        description: 'The task that waits for this ticket, and runs when its caller looks at it.',
      },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
      runUntil: { type: 'number', description: 'Until when an approved call may run. Absent in every other status.' },
      key: { type: 'string', description: 'The id of the API key that made the call. Absent for other credentials.' },
      mayDecide: { type: 'boolean', description: 'Whether you may decide it. The decision itself is checked again.' },
      mayTakeBack: { type: 'boolean', description: 'Whether you approved it and it has not begun to run.' },
      previous: {
        type: 'object',
        description: 'The last approved call of the same tool by the same caller, for comparison.',
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
    description: 'A ticket in a list. It has only an excerpt of what would run, so load the ticket before you decide.',
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
      'needed',
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
        description: 'The effect and the beginning of the arguments. Ends with … if there is more.',
      },
      digest: { type: 'string' },
      status: { enum: ['pending', 'approved', 'denied', 'expired', 'running', 'done', 'failed', 'in doubt', 'void'] },
      decided: { type: 'integer', description: 'The number of people who have decided so far.' },
      needed: { type: 'integer', description: 'The number of different people who must approve.' },
      key: { type: 'string', description: 'The id of the API key that made the call. Absent for other credentials.' },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
      mayDecide: { type: 'boolean', description: 'Whether you may decide it. The decision itself is checked again.' },
    },
  },
  TicketContext: {
    type: 'object',
    description: 'What surrounds a ticket: other calls of its caller, and the answer of its run.',
    required: ['calls'],
    properties: {
      calls: {
        type: 'array',
        description: 'The last calls of the same caller, newest first. Empty without an audit.',
        items: {
          type: 'object',
          required: ['at', 'target', 'outcome'],
          properties: {
            at: { type: 'number' },
            target: { type: 'string' },
            outcome: { type: 'string' },
            durationMs: { type: 'number' },
            ticket: { type: 'string' },
          },
        },
      },
      result: {
        type: 'object',
        description: 'The answer of the run. Kept for a day.',
        required: ['text', 'isError', 'isWhole'],
        properties: {
          text: { type: 'string' },
          isError: { type: 'boolean' },
          isWhole: { type: 'boolean', description: 'Whether `text` is the complete answer.' },
          durationMs: { type: 'number' },
        },
      },
    },
  },
  TicketPage: {
    type: 'object',
    required: ['tickets', 'pending'],
    properties: {
      tickets: { type: 'array', items: { $ref: 'TicketSummary' } },
      pending: { type: 'integer', description: 'The number of pending tickets that you may see.' },
      next: { type: 'string', description: 'The cursor of the next page; absent on the last.' },
    },
  },
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
  Request: {
    type: 'object',
    description: 'One handled message, without its arguments.',
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
      ticket: { type: 'string', description: 'The ticket that the call made, waited for or spent.' },
      reference: { type: 'string', description: 'The id of a failure, as the client got it.' },
      message: { type: 'string', description: 'The cause of a failure, without data of the caller.' },
    },
  },
  Second: {
    type: 'object',
    description: 'The traffic of one second. Percentiles are absent if there were no calls.',
    required: ['at', 'calls', 'errors', 'shed'],
    properties: {
      at: { type: 'number' },
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      shed: { type: 'integer', description: 'Calls refused by rate limits or load.' },
      p50: { type: 'number' },
      p95: { type: 'number' },
      p99: { type: 'number' },
    },
  },
  Count: {
    type: 'object',
    description: 'A gauge of a server: the length of its queue, its stragglers, its dropped messages.',
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
      seq: { type: 'number', description: 'Later requests have a larger number.' },
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
        description: 'All of them are needed to call it. Empty means that every authenticated caller may.',
        items: { type: 'string' },
      },
      approval: { type: 'string', description: 'When a person must approve.' },
      timeoutMs: { type: 'number', description: '0 or absent means no timeout.' },
      input: { description: 'The JSON Schema of the input.' },
      output: { description: 'The JSON Schema of the output.' },
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
    description: 'The usage of one tenant in the last minute, in this process.',
    required: ['id', 'servers', 'calls', 'errors', 'limited'],
    properties: {
      id: { type: 'string' },
      servers: { type: 'array', items: { type: 'string' } },
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      limited: { type: 'integer', description: 'Calls refused because a limit was reached.' },
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
    description: 'An API key, without its secret.',
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
  Problem: {
    type: 'object',
    description: 'The body of every error response.',
    required: ['reason', 'message'],
    properties: { reason: { type: 'string' }, message: { type: 'string' } },
  },
} as const

export type ConsoleSchemas = typeof schemas

/** The TypeScript type of a schema. */
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
