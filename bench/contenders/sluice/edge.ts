/** Sluice on the edge: the server at module scope, its fetch adapter as the worker. */
import { createServer } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { define } from './server.ts'

export default { fetch: toFetch(createServer(define(1))) }
