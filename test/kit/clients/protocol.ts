/** The messages on any transport, and helpers to read them. */

import type { Server } from 'sluice'
import type { TestClientOptions } from 'sluice/testing'
import type { Inbox } from './inbox.ts'

/** An object of unknown content. */
export type Params = { readonly [key: string]: unknown }
export type Revision = NonNullable<TestClientOptions['revision']>
export type Id = string | number

export const modern = '2026-07-28'
export const legacy: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
export const revisions: readonly Revision[] = [...legacy, modern]
export const transports = ['memory', 'stdio', 'http', 'sse', 'websocket'] as const
export type Transport = (typeof transports)[number]

/** Every transport with every revision, as rows for `describe.each`. */
export const matrix: readonly { readonly transport: Transport; readonly revision: Revision }[] = transports.flatMap(
  (transport) => revisions.map((revision) => ({ transport, revision })),
)

export interface ProtocolClientOptions {
  readonly revision: Revision
  readonly capabilities: Params
  /** Answers requests of the server. */
  answer?(method: string, params: Params): unknown
}

export interface ProtocolClient {
  readonly revision: Revision
  readonly server: Server
  /** The result of the handshake; on 2026-07-28, of `server/discover`. */
  readonly handshake: Params
  /** The whole response; `null` if there is none because the call was cancelled. */
  send(method: string, params?: Params, options?: SendOptions): Promise<Params | null>
  notify(method: string, params?: Params): Promise<void>
  /** Requests and notifications of the server, in order of arrival. */
  readonly received: Inbox<Params>
  /** Cancels a call in the form of the transport and the era. */
  cancel(id: Id): Promise<void>
  close(): Promise<void>
}
export interface SendOptions {
  readonly id?: Id
  /** Members for the request's `_meta`, such as a progress token. */
  readonly meta?: Params
}

/** Everything a client may declare. */
export const allCapabilities: Params = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

export const resultOf = (response: Params | null): Params => {
  const result = response?.['result']
  if (!isObject(result)) throw new Error(`Not a result: ${JSON.stringify(response)}`)
  return result
}
export const errorOf = (response: Params | null): Params => {
  const error = response?.['error']
  if (!isObject(error)) throw new Error(`Not an error: ${JSON.stringify(response)}`)
  return error
}
export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const objectAt = (value: Params, key: string): Params => {
  const found = value[key]
  if (!isObject(found)) throw new Error(`No object at ${key} in ${JSON.stringify(value)}`)
  return found
}
export const listAt = (value: Params, key: string): readonly Params[] => {
  const found = value[key]
  if (!Array.isArray(found)) throw new Error(`No list at ${key} in ${JSON.stringify(value)}`)
  return found
}
export const methodIs =
  (method: string) =>
  (message: Params): boolean =>
    message['method'] === method

/** Calls a tool and answers its questions, in the form of the revision. */
export async function callTool(
  wire: ProtocolClient,
  name: string,
  args: Params = {},
  answer?: ProtocolClientOptions['answer'],
): Promise<Params | null> {
  let response = await wire.send('tools/call', { name, arguments: args })
  for (let round = 0; answer && round < 10; round++) {
    const result = response?.['result']
    if (!isObject(result) || result['resultType'] !== 'input_required') break
    const inputResponses: { [key: string]: unknown } = {}
    for (const [key, asked] of Object.entries(objectAt(result, 'inputRequests')))
      if (isObject(asked)) inputResponses[key] = await answer(String(asked['method']), objectAt(asked, 'params'))
    const more = { inputResponses, requestState: result['requestState'] }
    response = await wire.send('tools/call', { name, arguments: args, ...more })
  }
  return response
}
