/** Memory for agents, as an MCP server: `open` for hosts, `handleRequest` for programs. */

export type { BareResponse, RequestHandler } from './handle-request.ts'
export { handleRequest, openRequestHandler, toHandleRequest } from './handle-request.ts'
export { open } from './open.ts'
