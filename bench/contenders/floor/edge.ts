/** The floor on the edge: a worker that checks one Zod schema. It shows how much of every bundle is Zod. */
import { echoSchema } from '../../lib/tools.ts'

const schema = echoSchema()

export default {
  fetch: async (request: Request): Promise<Response> => Response.json(schema.parse(await request.json())),
}
