/**
 * A handler as a Fastify plugin. Otherwise Fastify would read and parse bodies before the handler could refuse them.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeHandler } from './http-handler.ts'

/** The used operations of Fastify, so that Fastify need not be installed. */
export interface FastifyLike {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    options: object,
    parser: (request: never, body: never, done: (problem: null) => void) => void,
  ): unknown
  all(path: string, handler: (request: { readonly raw: IncomingMessage }, reply: FastifyReplyLike) => void): unknown
}
export interface FastifyReplyLike {
  readonly raw: ServerResponse
  hijack(): unknown
}

/** Returns a handler as a Fastify plugin: `app.register(toFastify(handler), { prefix: '/mcp' })`. */
export const toFastify =
  (handler: NodeHandler) =>
  async (app: FastifyLike): Promise<void> => {
    // Only within this plugin. The other routes keep their parsers.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', {}, (_request, _body, done) => done(null))
    for (const path of ['/', '/*'])
      app.all(path, ({ raw }, reply) => {
        reply.hijack()
        handler(raw, reply.raw)
      })
  }
