/** `sluice/gateway`: MCP servers that already run, behind the layers of a Sluice server. Commands are in `sluice/gateway-node`. */

export type { ConnectionLease, Connections, Scope, ScopeKey, UpstreamConnection } from './connections.ts'
export type { FromSdkOptions, SdkServer } from './from-sdk.ts'
export { fromSdk } from './from-sdk.ts'
export { gateway } from './gateway.ts'
export type {
  DefinitionDiff,
  DefinitionReview,
  DiffLine,
  PinnedKind,
  QuarantinedDefinition,
  ReviewedDefinition,
  Reviewer,
  ReviewState,
  UpstreamDiff,
} from './review.ts'
export type {
  Gateway,
  GatewayOptions,
  LeftOut,
  Trust,
  Upstream,
  UpstreamContext,
  UpstreamRule,
  UpstreamSettings,
  UpstreamState,
} from './types.ts'
export type { UrlUpstreamOptions } from './upstream.ts'
export { upstream } from './upstream.ts'
