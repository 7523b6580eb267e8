/** A worker that parses a call, validates its arguments with Zod, and answers. It has no protocol. */
import { echoSchema } from '../lib/tools.ts'

const schema = echoSchema()
const inputSchema = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })

export default {
  async fetch(request: Request): Promise<Response> {
    const { params } = (await request.json()) as { params: { arguments: unknown } }
    return Response.json({ inputSchema, text: schema.parse(params.arguments).text })
  },
}
