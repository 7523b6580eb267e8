/** Servers and their traffic. */

export const serverRoutes = {
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
} as const
