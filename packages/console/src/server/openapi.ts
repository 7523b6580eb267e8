/** Converts the table to an OpenAPI 3.1 document, for people and for client generators. */

import type { Params } from 'sluice'
import { routes, schemas } from '../api/index.ts'
import { webhookPath } from './webhook-route.ts'

/** The console’s API as an OpenAPI document, made from `routes`. */
export const openApi = (): Params => ({
  openapi: '3.1.0',
  info: {
    title: 'Sluice console API',
    version: '1',
    description:
      'Everything the console shows and does. Call it with an operator key: `Authorization: Bearer op_…`. API keys of agents are not accepted.',
  },
  security: [{ operatorKey: [] }],
  components: {
    securitySchemes: { operatorKey: { type: 'http', scheme: 'bearer' } },
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, shape]) => [name, withRefPointers(shape)])),
  },
  paths: {
    ...pathsOf(),
    '/api/audit/export': {
      get: {
        operationId: 'exportAudit',
        summary: 'All audit records of a tenant, one JSON object per line, oldest first.',
        parameters: [{ name: 'tenant', in: 'query', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'The records.', content: { 'application/x-ndjson': {} } } },
      },
    },
    '/api/events': {
      get: {
        operationId: 'events',
        summary: 'Server-Sent Events: `tickets`, `requests`, `second`, `over`. Accepts the filters of /api/live.',
        responses: { 200: { description: 'A stream.', content: { 'text/event-stream': {} } } },
      },
    },
    [`/${webhookPath}`]: {
      post: {
        operationId: 'receiveDecision',
        summary:
          'A decision from the receiver of the webhook, signed as Standard Webhooks specifies. No key is needed.',
        security: [],
        parameters: ['id', 'timestamp', 'signature'].map((name) => ({
          ...{ name: `webhook-${name}`, in: 'header', required: true, schema: { type: 'string' } },
        })),
        requestBody: { content: jsonContent(decisionSchema) },
        responses: {
          200: { description: 'Accepted.', content: jsonContent({ type: 'object' }) },
          default: { description: 'Refused.', content: jsonContent(withRefPointers({ $ref: 'Problem' })) },
        },
      },
    },
  },
})

function pathsOf(): Params {
  const paths: { [path: string]: { [method: string]: Params } } = {}
  for (const [name, route] of Object.entries(routes)) {
    const { method, path, about, input, output } = route
    const required: readonly string[] = 'required' in input ? input.required : []
    const fields = Object.entries<Params>(input.properties)
    const inPath = (field: string): boolean => path.includes(`{${field}}`)
    const outside = fields.filter(([field]) => method === 'GET' || inPath(field))
    const inside = fields.filter(([field]) => method === 'POST' && !inPath(field))
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = {
      operationId: name,
      summary: about,
      ...('needs' in route && { description: `Needs the scope \`${route.needs}\`.` }),
      parameters: outside.map(([field, schema]) => ({
        name: field,
        in: inPath(field) ? 'path' : 'query',
        required: inPath(field) || required.includes(field),
        schema,
      })),
      ...(method === 'POST' && { requestBody: { content: jsonContent(bodyOf(inside, required)) } }),
      responses: {
        200: { description: 'Done.', content: jsonContent(withRefPointers(output)) },
        default: { description: 'Refused.', content: jsonContent(withRefPointers({ $ref: 'Problem' })) },
      },
    }
  }
  return paths
}

const decisionSchema: Params = {
  type: 'object',
  required: ['type', 'data'],
  properties: {
    type: { const: 'approval.decided' },
    data: {
      type: 'object',
      required: ['id', 'approved', 'by'],
      properties: {
        id: { type: 'string', description: 'The id of the ticket.' },
        approved: { type: 'boolean' },
        by: { type: 'string', description: 'The person who decided.' },
        note: { type: 'string' },
      },
    },
  },
}

const jsonContent = (schema: unknown): Params => ({ 'application/json': { schema } })

const bodyOf = (fields: readonly (readonly [string, Params])[], required: readonly string[]): Params => ({
  type: 'object',
  properties: Object.fromEntries(fields),
  required: required.filter((name) => fields.some(([field]) => field === name)),
  additionalProperties: false,
})

/** Our references are names, and OpenAPI's are pointers. */
const withRefPointers = (shape: unknown): unknown =>
  JSON.parse(JSON.stringify(shape), (key, value) => (key === '$ref' ? `#/components/schemas/${value}` : value))
