/**
 * Many athletes on one server: `open` for hosts, `processRequest` and `formatOutput` for programs with their own
 * transport.
 */

export type { FormattedOutput } from './format-output.ts'
export { formatOutput } from './format-output.ts'
export { open } from './open.ts'
export type { Headers, ProcessedResponse, RequestProcessor } from './process-request.ts'
export { openRequestProcessor, processRequest, toProcessRequest } from './process-request.ts'
