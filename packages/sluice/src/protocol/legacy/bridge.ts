/**
 * Earlier revisions ask the client with real requests, while the layers know only the form of 2026-07-28. This layer
 * therefore acts as the modern client. It sends the questions of an `input_required` result on the call's own stream,
 * and calls the stack again with the answers. It is outside all layers, so it waits for a person without holding a slot
 * or a deadline.
 *
 * Invariant: while this waits, the questions of one round are open, and when it returns or throws none of them is.
 */

import type { Answer } from '../../core/answer.ts'
import { Prepared } from '../../core/answer.ts'
import type { Call, Layer } from '../../core/call.ts'
import { fail, RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { createStop } from '../../core/stop.ts'
import { projectMessages } from '../project.ts'
import type { Features } from '../revisions.ts'
import { featuresOf } from '../revisions.ts'

/** Maximum number of rounds, so that a tool that never stops asking does not hold a client for ever. */
const maxRounds = 16

export const bridge: Layer = (next) =>
  async function bridge(call) {
    let answer = await next(call)
    for (let round = 0; needsInput(answer); round++) {
      if (round === maxRounds) throw fail('The tool asked too many questions')
      const inputResponses = await askAll(call, questionsOf(answer))
      const params = { ...call.params, inputResponses, requestState: answer['requestState'] }
      answer = await next({ ...call, params })
    }
    return answer
  }

const needsInput = (answer: Answer): answer is Exclude<Answer, Prepared> =>
  !(answer instanceof Prepared) && answer.resultType === 'input_required'

type AskedQuestion = readonly [key: string, method: string, params: Params]

const questionsOf = (answer: Params): readonly AskedQuestion[] =>
  Object.entries(isObject(answer['inputRequests']) ? answer['inputRequests'] : {}).flatMap(([key, request]) =>
    isObject(request) && typeof request['method'] === 'string'
      ? [[key, request['method'], isObject(request['params']) ? request['params'] : {}] as const]
      : [],
  )

async function askAll(call: Call, asked: readonly AskedQuestion[]): Promise<Params> {
  const { request } = call
  const features = featuresOf(call.revision)
  // The call does not wait here: the client opens the page and calls again. Only 2025-11-25 gets this far.
  const elicitations = asked.map(([, , params]) => params).filter((params) => params['elicitationId'] !== undefined)
  if (elicitations.length > 0)
    throw new RpcError('urlRequired', 'A page must be visited first: open it, then call again', {
      data: { elicitations },
    })
  if (!request) throw fail('This tool needs to ask the client, and this connection cannot carry questions')
  // The call fails with the first refusal. The other questions must end with it, otherwise the client would still show
  // them.
  const roundStop = createStop()
  const unlisten = call.stop.onStop((reason) => roundStop.stop(reason))
  try {
    const answers = asked.map(async ([key, method, params]) => [
      key,
      await request(method, projectQuestion(method, params, features, key), roundStop),
    ])
    return Object.fromEntries(await Promise.all(answers))
  } finally {
    unlisten()
    roundStop.stop(new RpcError('cancelled', 'The other questions of this call were not answered'))
  }
}

/** Projects a question onto what a revision allows. */
function projectQuestion(method: string, params: Params, features: Features, key: string): Params {
  const { messages } = params
  if (Array.isArray(messages)) return { ...params, messages: projectMessages(messages, features) }
  if (method !== 'elicitation/create') return params
  if (params['mode'] === 'url') return { ...params, elicitationId: `${key}-${crypto.randomUUID()}` }
  if (features.richForms) return params
  const { mode: _, ...rest } = params
  const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {}
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const plain = Object.entries(properties).map(([name, field]) => [
    name,
    isObject(field) ? plainField(field, name) : field,
  ])
  return { ...rest, requestedSchema: { ...schema, properties: Object.fromEntries(plain) } }
}

/** Converts a field for 2025-06-18, which has plain enums with names, and defaults for booleans only. */
function plainField({ default: preset, oneOf, ...field }: Params, name: string): Params {
  if (field['type'] === 'array')
    throw fail(`This client's protocol revision has no lists of choices, which "${name}" needs`)
  return {
    ...field,
    ...(field['type'] === 'boolean' && preset !== undefined && { default: preset }),
    ...(Array.isArray(oneOf) && {
      enum: oneOf.map((choice: Params) => choice['const']),
      enumNames: oneOf.map((choice: Params) => choice['title'] ?? choice['const']),
    }),
  }
}
