/**
 * The requests of one user, in the two forms that are measured.
 *
 * `sessions` is the form of the published comparison: every call is made in a separate session of an earlier revision,
 * which is opened, used once and closed, and a fourth session lists the tools. Opening, calling and listing count;
 * `notifications/initialized` and DELETE do not. `calls` is the form of a client that stays: calls alone, in the newest
 * revision of the contender.
 */
import { httpHeaders, jsonText, type Revision } from '../lib/messages.ts'
import { userName } from './data.ts'

export type Flow = 'sessions' | 'calls'

export interface Step {
  readonly method: 'POST' | 'DELETE'
  readonly headers: Record<string, string>
  readonly body: string
  /** A text that the answer must contain. */
  readonly expect: string
  readonly counts: boolean
  /** Whether the session of the answer is used for the steps that follow, up to the next such step. */
  readonly opens?: boolean
}

/** The revision of all contenders in `sessions`: the newest that each of them speaks. */
const earlierRevision: Revision = '2025-06-18'

const callsOf = (user: string) => [
  {
    name: 'search_products',
    args: { category: 'Electronics', min_price: 50, max_price: 500, limit: 10 },
    expect: '\\"total_found\\":4505',
  },
  { name: 'get_user_cart', args: { user_id: user }, expect: '\\"order_id\\":\\"old-4\\"' },
  {
    name: 'checkout',
    args: {
      user_id: user,
      items: [
        { product_id: 42, quantity: 2 },
        { product_id: 1_337, quantity: 1 },
      ],
    },
    expect: '\\"status\\":\\"confirmed\\"',
  },
]

const post = (body: string, headers: Record<string, string>, expect: string, counts = true): Step => ({
  method: 'POST',
  headers,
  body,
  expect,
  counts,
})

export function journeyOf(flow: Flow, userIndex: number, revision: Revision): readonly Step[] {
  const calls = callsOf(userName(userIndex))
  if (flow === 'calls')
    return calls.map(({ name, args, expect }) =>
      post(
        jsonText('tools/call', { name, arguments: args }, revision, 1),
        httpHeaders('tools/call', revision, name),
        expect,
      ),
    )
  const list = { method: 'tools/list', params: {}, expect: 'search_products' }
  const used = calls.map(({ name, args, expect }) => ({
    method: 'tools/call',
    params: { name, arguments: args },
    expect,
  }))
  return [...used, list].flatMap((use) => sessionOf(use))
}

function sessionOf({ method, params, expect }: { method: string; params: object; expect: string }): readonly Step[] {
  const headers = httpHeaders(method, earlierRevision)
  const opening = { protocolVersion: earlierRevision, capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
  return [
    { ...post(jsonText('initialize', opening, earlierRevision, 1), headers, '"serverInfo"'), opens: true },
    post('{"jsonrpc":"2.0","method":"notifications/initialized"}', headers, 'HTTP/1.1 202', false),
    post(jsonText(method, params, earlierRevision, 2), headers, expect),
    { method: 'DELETE', headers, body: '', expect: 'HTTP/1.1 20', counts: false },
  ]
}
