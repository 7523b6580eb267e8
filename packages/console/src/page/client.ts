/** Calls the API. Names, inputs and outputs come from the same table as the server. */

import type { ApiProblem, RouteInput, RouteName, RouteOutput } from '../api/index.ts'
import { routes } from '../api/index.ts'

export class ApiError extends Error {
  readonly status: number
  readonly reason: string
  constructor(status: number, { reason, message }: ApiProblem) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

let csrf = ''
let sessionEndListener = (): void => {}

/** Stores the CSRF token, which changes need besides the cookie. */
export const rememberCsrf = (token: string): void => {
  csrf = token
}
/** Sets the listener that is called when the session has ended. */
export const onSessionEnd = (then: () => void): void => {
  sessionEndListener = then
}

type FieldValue = string | number | boolean

export async function callApi<Name extends RouteName>(name: Name, input: RouteInput<Name>): Promise<RouteOutput<Name>> {
  const { method, path } = routes[name]
  const rest = new Map<string, FieldValue>(Object.entries(input as Record<string, FieldValue>))
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
  const body: unknown = await response
    .json()
    .catch(() => ({ reason: 'internalError', message: 'The response is not JSON' }))
  if (response.ok) return body as RouteOutput<Name>
  if (response.status === 401 && name !== 'signIn') sessionEndListener()
  throw new ApiError(response.status, body as ApiProblem)
}

export const problemOf = (thrown: unknown): string =>
  thrown instanceof ApiError ? thrown.message : 'The console does not respond. Check that the server is running.'
