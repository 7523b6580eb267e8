/** Asks the API. Names, inputs and answers come from the table the server itself is made from. */

import type { Input, Output, Problem, RouteName } from '../../sluice/src/operate/console/api.ts'
import { routes } from '../../sluice/src/operate/console/api.ts'

export class Refusal extends Error {
  readonly status: number
  readonly reason: string
  constructor(status: number, { reason, message }: Problem) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

let csrf = ''
let hearOfEnd = (): void => {}

/** What changes need besides the cookie. */
export const rememberCsrf = (token: string): void => {
  csrf = token
}
/** Called when the server no longer knows who this is. */
export const onEnd = (then: () => void): void => {
  hearOfEnd = then
}

type Value = string | number | boolean

export async function ask<Name extends RouteName>(name: Name, input: Input<Name>): Promise<Output<Name>> {
  const { method, path } = routes[name]
  const rest = new Map<string, Value>(Object.entries(input as Record<string, Value>))
  const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest.get(field)
    rest.delete(field)
    return encodeURIComponent(String(value))
  })
  const query = method === 'GET' ? new URLSearchParams([...rest].map(([field, value]) => [field, String(value)])) : ''
  const response = await fetch(`.${filled}${String(query) === '' ? '' : `?${query}`}`, {
    method,
    credentials: 'same-origin',
    ...(method === 'POST' && {
      headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
      body: JSON.stringify(Object.fromEntries(rest)),
    }),
  })
  const body: unknown = await response.json().catch(() => ({ reason: 'internalError', message: 'No answer' }))
  if (response.ok) return body as Output<Name>
  if (response.status === 401 && name !== 'signIn') hearOfEnd()
  throw new Refusal(response.status, body as Problem)
}

export const problemOf = (thrown: unknown): string =>
  thrown instanceof Refusal ? thrown.message : 'The console does not answer. Is the server running?'
