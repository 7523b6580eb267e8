/** SDK v2 over stdio: its `serveStdio`, one server for the connection. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { factory } from './server.ts'

serveStdio(factory(1))
