/**
 * For the packages of this repository. It may change in any release, and its names have no page in the reference.
 *
 * A name is here if `@sluice/console` needs it, and no program of others does.
 */

export { mayDecide, mayTakeBack } from './approvals/decide.ts'
export type { Rules } from './approvals/policy/rules.ts'
export { createRules } from './approvals/policy/rules.ts'
export { anonymous } from './core/call.ts'
export { monotonicNow } from './core/clock.ts'
export { bugOf } from './core/error.ts'
export { frame } from './core/frame.ts'
export { getOrCreate } from './core/get-or-create.ts'
export { isObject } from './core/json.ts'
export { isSafeUrl } from './core/loopback.ts'
export { createPacer } from './core/pacer.ts'
export { networkOf } from './core/peer.ts'
export type { AttachedServer, Gauge, NamedLayers, Quota } from './core/plugin.ts'
export { noAudit } from './core/plugin.ts'
export type { Bucket } from './core/store.ts'
export { pagesOf, prefixed } from './core/store.ts'
export type { Target } from './core/target.ts'
export type { SignInOrigin } from './gateway/auth/types.ts'
export { actAsKey } from './layers/identities/acting-key.ts'
export type { ApiKeyAdmin } from './layers/identities/api-keys.ts'
export { callerOf, tenantOf } from './observe/call-identity.ts'
export { bugFields, messageOf } from './observe/redact.ts'
export { metaKeys, modernRevision } from './protocol/revisions.ts'
export type { ToolEntry } from './protocol/tools.ts'
export { createGuard } from './transports/http/guard.ts'
export { checkContentType, checkEncoding } from './transports/http/media.ts'
export { statusOf } from './transports/http/status.ts'
export { NodeRequest } from './transports/node/http-message.ts'
