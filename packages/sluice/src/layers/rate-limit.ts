/** Limits the rate of calls: a token bucket per tenant, caller and target, shared by all processes. */

import type { Call, Layer } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import { networkOf } from '../core/peer.ts'
import type { Bucket, Key } from '../core/store.ts'
import { visibility } from './authorize.ts'
import type { TakeToken } from './shared-bucket.ts'

export interface RateLimitOptions {
  /** The bucket for each caller and target. By default 120 at once and 20 a second, which stops an agent in a loop. */
  readonly rate?: Bucket
  /** Buckets by tool name, for tools that cost more or less than the rest. */
  readonly tools?: { readonly [name: string]: Bucket }
}

const defaultRate: Bucket = { burst: 120, perSecond: 20 }

/**
 * Creates the layer. It runs before `authorize`, so that guessing names is limited too. Hidden targets share one bucket
 * with missing ones. With its own bucket, a hidden tool would still answer when missing names no longer do.
 */
export function rateLimit({ rate = defaultRate, tools = {} }: RateLimitOptions, take: TakeToken): Layer {
  assertBucket('rate', rate)
  const bucketsOfTools: ReadonlyMap<string, Bucket> = new Map(Object.entries(tools))
  for (const [name, bucket] of bucketsOfTools) assertBucket(`tools.${name}`, bucket)

  return (next) =>
    async function rateLimit(call) {
      const { kind, name } = call.target
      const hidden = visibility(call) === 'hidden'
      const bucket = (!hidden && kind === 'tool' && bucketsOfTools.get(name)) || rate
      const waitMs = await take(bucketKey(call, hidden), bucket)
      if (waitMs > 0) throw tooManyCalls(hidden ? undefined : name, waitMs)
      return next(call)
    }
}

/**
 * Returns the key of a bucket. Unauthenticated callers are told apart by network, otherwise one of them could use up
 * the limit of all.
 */
const bucketKey = ({ tenant, caller, via, target }: Call, hidden: boolean): Key => [
  'limit',
  tenant.id,
  ...(caller.credential === anonymous.credential ? ['peer', networkOf(via.peer)] : ['caller', caller.subject]),
  ...(hidden ? ['unknown'] : [target.kind, target.name]),
]

function tooManyCalls(name: string | undefined, waitMs: number): RpcError {
  const retryAfterMs = Math.ceil(waitMs)
  const seconds = Math.ceil(retryAfterMs / 1000)
  const problem = name === undefined ? 'Too many calls' : `Too many calls of ${name}`
  return new RpcError('rateLimited', `${problem}: wait ${seconds} s, then try again`, { data: { retryAfterMs } })
}

/** Throws if a bucket never holds a whole token, because it would refuse every call for ever. */
function assertBucket(where: string, { burst, perSecond }: Bucket): void {
  if (!(burst >= 1) || !(perSecond > 0))
    throw new TypeError(`rate limit, "${where}": "burst" must be at least 1 and "perSecond" more than 0`)
}
