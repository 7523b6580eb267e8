/** A live Common Lisp image for agents, as an MCP server: `open` for hosts, `handleMessage` for programs. */

export type { MessageHandler } from './handle-message.ts'
export { handleMessage, openMessageHandler, toHandleMessage } from './handle-message.ts'
export { open } from './open.ts'
