/** Tools to test servers, layers and stores. */

export { aCall } from './call.ts'
export type { TestApproval, TestClient, TestClientOptions } from './client.ts'
export { TestClientError, testClient } from './client.ts'
export type { FakeClock } from './clock.ts'
export { fakeClock, settle } from './clock.ts'
export { assertJsonRpcError, assertJsonRpcSuccess } from './json-rpc.ts'
export { run } from './run.ts'
export type { TestContent, TestToolResult } from './tool-result.ts'
