/** `sluice/client-node`: the parts of the client that need Node. Servers as processes, and HTTP that is faster than `fetch`. */

export type { LoopbackRedirect, LoopbackRedirectOptions } from './loopback-redirect.ts'
export { createLoopbackRedirect } from './loopback-redirect.ts'
export type { NodeSender, NodeSenderOptions } from './sender.ts'
export { createNodeSender } from './sender.ts'
export type { StdioTransportOptions } from './stdio.ts'
export { stdioTransport } from './stdio.ts'
export type { StreamsOptions } from './streams.ts'
export { streamTransport } from './streams.ts'
