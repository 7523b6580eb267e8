/** Questions to Sluice's own documents, and the page that answers each: what people ask, also as they mistype it. */

import type { Base } from '../../servers/knowledge/src/index.ts'

/** `[question, page]`, the page as `collection/slug`. */
export const questions: readonly (readonly [question: string, page: string])[] = [
  ['how do I check who is calling', 'layers/authenticate'],
  ['JWT with a JWKS', 'layers/authenticate'],
  ['create and revoke API keys', 'layers/authenticate'],
  ['which methods can be called without a token', 'layers/authenticate'],
  ['athenticate with a bearer tokn', 'layers/authenticate'],
  ['hide a tool from callers without a scope', 'layers/authorize'],
  ['what does a caller see of a tool he may not use', 'layers/authorize'],
  ['scopes of a tool', 'layers/authorize'],
  ['autorization by scoeps', 'layers/authorize'],
  ['keep the data of two customers apart', 'layers/tenant'],
  ['multi-tenant isolation', 'layers/tenant'],
  ['choose a tenant with a header', 'layers/tenant'],
  ['tennant from verifed claims', 'layers/tenant'],
  ['rate limiting', 'layers/limit'],
  ['refuse requests when the process is overloaded', 'layers/limit'],
  ['token bucket per caller', 'layers/limit'],
  ['rate limt per tool', 'layers/limit'],
  ['how long may a tool run', 'layers/deadlines'],
  ['timeout of a call', 'layers/deadlines'],
  ['abort work when the client cancels', 'layers/deadlines'],
  ['tiemout in miliseconds', 'layers/deadlines'],
  ['how many calls run at the same time', 'layers/concurrency'],
  ['noisy neighbour takes all slots', 'layers/concurrency'],
  ['concurency queue', 'layers/concurrency'],
  ['run a payment only once although the client retries', 'layers/once'],
  ['Idempotency-Key', 'layers/once'],
  ['idempotent retires with a key', 'layers/once'],
  ['what if the process crashed in the middle of a call: in doubt', 'layers/once'],
  ['tamper-proof record of what was done', 'layers/audit'],
  ['verify the hash chain', 'layers/audit'],
  ['audit log recrods', 'layers/audit'],
  ['prometheus metrics', 'layers/observe'],
  ['opentelemetry traces and spans', 'layers/observe'],
  ['health check for an orchestrator', 'layers/observe'],
  ['what is in a log line', 'layers/observe'],
  ['metrcis and healht', 'layers/observe'],
  ['save tokens with TOON', 'layers/format'],
  ['compact output instead of JSON for many rows', 'layers/format'],
  ['rotate the secret', 'layers/keys'],
  ['SLUICE_SECRET environment variable', 'layers/keys'],
  ['how is requestState encrypted', 'layers/keys'],
  ['secrt roatation', 'layers/keys'],
  ['store data in Redis', 'layers/stores'],
  ['SQLite on one machine', 'layers/stores'],
  ['write my own store', 'layers/stores'],
  ['sqllite and redsi stores', 'layers/stores'],
  ['what happens when the store is away', 'layers/README'],
  ['order of the layers', 'layers/README'],
  ['where does Sluice differ from the documents', 'articles/documents'],
  ['what does the fitness document ask for', 'articles/documents'],
  ['error codes per revision', 'articles/design'],
  ['why no AbortController per call', 'articles/design'],
  ['which protocol revisions are supported', 'articles/design'],
  ['verify tokens from an OAuth authorization server', 'layers/authenticate'],
  ['revoke a key', 'layers/authenticate'],
  ['insufficient scope challenge', 'layers/authorize'],
  ['list tools only to some callers', 'layers/authorize'],
  ['x-tenant header', 'layers/tenant'],
  ['per customer storage', 'layers/tenant'],
  ['too many requests 429', 'layers/limit'],
  ['event loop lag and heap', 'layers/limit'],
  ['connections per peer', 'layers/limit'],
  ['deadlne of a tool', 'layers/deadlines'],
  ['signal aborts', 'layers/deadlines'],
  ['slots per tenant', 'layers/concurrency'],
  ['queue length when all slots are taken', 'layers/concurrency'],
  ['client lost the answer and sends it again', 'layers/once'],
  ['resolve work in doubt', 'layers/once'],
  ['who changed a row in the log', 'layers/audit'],
  ['blocking audit', 'layers/audit'],
  ['readyz returns 503', 'layers/observe'],
  ['/metrics for prometheus', 'layers/observe'],
  ['structured logging with pino', 'layers/observe'],
  ['fewer tokens for rows', 'layers/format'],
  ['toon format', 'layers/format'],
  ['sealed state', 'layers/keys'],
  ['HKDF', 'layers/keys'],
  ['durability of redis append only file', 'layers/stores'],
  ['atomic swap', 'layers/stores'],
  ['kill -9 and power cut', 'layers/stores'],
  ['knowledge base document differences', 'articles/documents'],
  ['imports point one way', 'articles/design'],
  ['why is node:http taken with getBuiltinModule', 'articles/design'],
  ['serve over WebSocket', 'articles/transports'],
  ['old clients with HTTP and SSE', 'articles/transports'],
  ['tranports and revisions', 'articles/transports'],
  ['use it inside an Express app', 'articles/mounting'],
  ['several servers on one port', 'articles/mounting'],
  ['mount in fastify or hono', 'articles/mounting'],
  ['deploy to Cloudflare Workers', 'articles/edge'],
  ['run on deno and bun', 'articles/edge'],
  ['who may approve a gated call', 'articles/approvals'],
  ['let a human confirm a dangerous tool', 'articles/approvals'],
  ['aproval by another person', 'articles/approvals'],
]

export interface Answered {
  readonly asked: number
  /** The page is among the first three. */
  readonly right: number
  /** It is the first. */
  readonly first: number
  readonly missed: readonly string[]
}

export function answered(base: Base): Answered {
  const places = questions.map(([question, page]) => ({
    question,
    page,
    at: base.search(question).findIndex(({ collection, slug }) => `${collection}/${slug}` === page),
  }))
  const missed = places.filter(({ at }) => at === -1 || at > 2)
  return {
    asked: questions.length,
    right: questions.length - missed.length,
    first: places.filter(({ at }) => at === 0).length,
    missed: missed.map(
      ({ question, page, at }) => `${question} → ${page} (${at === -1 ? 'not found' : `place ${at + 1}`})`,
    ),
  }
}
