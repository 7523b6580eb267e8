/**
 * The entry point that the Lisp document describes: it takes a JSON-RPC text and returns the text of its answer. A thin
 * adapter over the server; docs/documents.md#003 lists what it does as written.
 */

import type { HostContext, Server } from 'sluice'
import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { dataFolder } from 'sluice/main'
import { createServer, handleText, nodeClock, stderrLogger } from 'sluice/node'
import { log } from 'sluice/plugins'
import { open } from './open.ts'

/** Handles messages until it is closed. */
export interface MessageHandler {
  /** Returns the answer, or `null` for a notification. Never rejects. */
  handleMessage(text: string): Promise<string | null>
  /** Ends the image, if one was started. */
  close(): Promise<void>
}

/** Serves messages in the document's form on any server; its codes need a server with `errors: 'json-rpc'`. */
export const toHandleMessage =
  (server: Server): MessageHandler['handleMessage'] =>
  (text) =>
    handleText(server, text, { adapt: withoutNullId })

/** Opens a separate handler. The program that calls it is the client, and asks its own user (`approval/respond`). */
export async function openMessageHandler(site: HostContext): Promise<MessageHandler> {
  const { definition, close } = await open(site)
  const { clock, logger } = site
  const store = memoryStore(clock)
  const server = createServer(definition, {
    errors: 'json-rpc',
    clock,
    store,
    use: [log(logger), createApprovals({ store, clock, logger, approver: 'client' })],
  })
  return {
    handleMessage: toHandleMessage(server),
    async close() {
      await server.close()
      await close()
    },
  }
}

/** In the document a message with a null id is a notification, like one without an id. MCP refuses it. */
function withoutNullId(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('id' in message) || message.id !== null) return message
  const { id: _, ...notification } = message
  return notification
}

let handler: Promise<MessageHandler> | undefined

/** Serves one message on this account's data folder. The first message opens it; an image ends with the process. */
export async function handleMessage(text: string): Promise<string | null> {
  handler ??= openDefaultHandler().catch((thrown: unknown) => {
    handler = undefined
    throw thrown
  })
  return (await handler).handleMessage(text)
}

const openDefaultHandler = async (): Promise<MessageHandler> =>
  openMessageHandler({
    folder: dataFolder('sluice-lisp', undefined),
    env: process.env,
    clock: nodeClock,
    logger: stderrLogger(),
  })
