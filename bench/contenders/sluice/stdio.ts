/** Sluice over stdio with its defaults. */
import { serveStdio } from 'sluice/node'
import { define } from './server.ts'

serveStdio(define(1))
