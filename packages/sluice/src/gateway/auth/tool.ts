/** The tool `sign_in`, for clients that show no pages, and for the first caller, whose sign-in lists the definitions. */

import { fail, RpcError } from '../../core/error.ts'
import { jsonSchema } from '../../json-schema/index.ts'
import type { Tool } from '../../protocol/tools.ts'
import { tool } from '../../protocol/tools.ts'
import { personOf } from '../scope.ts'
import type { PersonSignIns } from './types.ts'

export const signInTool = (name: string, upstream: string, signIns: PersonSignIns): Tool =>
  tool({
    name,
    description: `Sign in to ${upstream} for the person you work for. Without a code it returns the page that the person must open. Call it again with the code that the page shows.`,
    input: jsonSchema<{ readonly code?: string }>({
      type: 'object',
      properties: { code: { type: 'string', maxLength: 40, description: 'The code on the page after the sign-in' } },
      additionalProperties: false,
    }),
    annotations: { destructiveHint: false, openWorldHint: true },
    async run({ code }, { call }) {
      const person = personOf(call, upstream)
      if (code !== undefined)
        await signIns.confirm(person, code).catch((thrown: unknown) => {
          throw thrown instanceof RpcError ? fail(`${thrown.message}.`) : thrown
        })
      else {
        const { state } = await signIns.state(person)
        if (state !== 'signed in')
          return `Ask the person to open this page and to give you the code on it: ${await signIns.start(person)}`
      }
      return `Signed in to ${upstream}. Its tools can be called now.`
    },
  })
