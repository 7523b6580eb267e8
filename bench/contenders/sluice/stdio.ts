/** Sluice over stdio as it comes. */
import { serveStdio } from 'sluice/node'
import { define } from './server.ts'

serveStdio(define(1))
