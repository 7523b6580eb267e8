/** Sluice over HTTP with its defaults: Host and Origin checks and the log line per request are on. */
import { serveHttp } from 'sluice/node'
import { reportUrl } from '../served.ts'
import { define } from './server.ts'

const http = await serveHttp(define(1), { port: 0 })
reportUrl(http.url)
