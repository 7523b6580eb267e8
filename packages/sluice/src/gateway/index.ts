/** `sluice/gateway`: MCP servers that already run, behind the layers of a Sluice server. Commands are in `sluice/gateway-node`. */

export type { ConnectionLease, Connections, Scope, ScopeKey, UpstreamConnection } from './connections.ts'
export type {
  AppliedRule,
  ApprovalSubject,
  CallExplanation,
  CallQuestion,
  CallRefusal,
  ExplainedCaller,
  HostPolicies,
  UpstreamTool,
} from './explain.ts'
export type { FromSdkOptions, SdkServer } from './from-sdk.ts'
export { fromSdk } from './from-sdk.ts'
export { gateway } from './gateway.ts'
export type {
  Gateway,
  GatewayOptions,
  LeftOut,
  Profile,
  Upstream,
  UpstreamContext,
  UpstreamRule,
  UpstreamSettings,
  UpstreamState,
} from './types.ts'
export type { UrlUpstreamOptions } from './upstream.ts'
export { upstream } from './upstream.ts'
