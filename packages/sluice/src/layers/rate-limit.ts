/** How often: a token bucket per server, tenant, caller and target, shared by all processes. */

import type { Call, Layer } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import { networkOf } from '../core/peer.ts'
import type { Bucket, Key } from '../core/store.ts'
import type { TargetRate } from '../core/target.ts'
import { visibility } from './authorize.ts'
import type { TakeToken } from './shared-bucket.ts'

/** How often a caller may call. */
export interface RateLimitOptions {
  /** How many calls of one target a caller can make at once: 120 by default. */
  readonly burst?: number
  /** How many calls of one target a caller can make per second, on average: 20 by default, which stops an agent in a loop. */
  readonly perSecond?: number
  /** Buckets of single tools, by name, for tools that cost more or less than the rest. */
  readonly tools?: { readonly [name: string]: Bucket }
}

/**
 * Before `authorize`, so that guessing names is limited too. What a caller may not know of shares one bucket with what
 * is not there: with a separate bucket, a hidden tool would answer when names that do not exist no longer do.
 */
export function rateLimitLayer(
  { burst = 120, perSecond = 20, tools = {} }: RateLimitOptions,
  server: string,
  take: TakeToken,
): Layer {
  const rate: Bucket = { burst, perSecond }
  assertBucket('rateLimit', rate)
  const ofTools: ReadonlyMap<string, Bucket> = new Map(Object.entries(tools))
  for (const [name, bucket] of ofTools) assertBucket(`rateLimit, tools.${name}`, bucket)

  return (next) =>
    async function rateLimit(call) {
      const { kind, name, policy } = call.target
      const hidden = visibility(call) === 'hidden'
      const bucket = (!hidden && (policy.rate ?? (kind === 'tool' && ofTools.get(name)))) || rate
      const waitMs = await take(bucketKey(server, call, hidden), bucket)
      if (waitMs > 0) throw tooManyCalls(hidden ? undefined : name, waitMs)
      return next(call)
    }
}

/** Anonymous callers are told apart by their address. Otherwise one of them could spend the limit of all. */
const bucketKey = (server: string, { tenant, caller, via, target }: Call, hidden: boolean): Key => [
  'limit',
  tenant.id,
  ...(caller.credential === anonymous.credential ? ['peer', networkOf(via.peer)] : ['caller', caller.subject]),
  ...(!hidden && target.policy.rate
    ? rateKey(target.policy.rate)
    : ['server', server, ...(hidden ? ['unknown'] : [target.kind, target.name])]),
]

/** Callers with the same subject may have different rates, and a bucket has one. */
const rateKey = ({ name, burst, perSecond }: TargetRate): Key => ['rate', name, `${burst} ${perSecond}`]

function tooManyCalls(name: string | undefined, waitMs: number): RpcError {
  const retryAfterMs = Math.ceil(waitMs)
  const seconds = Math.ceil(retryAfterMs / 1000)
  const what = name === undefined ? 'Too many calls' : `Too many calls of ${name}`
  return new RpcError('rateLimited', `${what}: wait ${seconds} s, then try again`, { data: { retryAfterMs } })
}

/** A bucket that never holds a whole token would refuse every call for ever. */
function assertBucket(where: string, { burst, perSecond }: Bucket): void {
  if (!(burst >= 1) || !(perSecond > 0))
    throw new TypeError(`${where}: "burst" must be at least 1 and "perSecond" more than 0`)
}
