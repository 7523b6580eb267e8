/**
 * What a package that is a server exports as `open`, so that any host can run it: its own binary, the `sluice` command
 * beside other servers, a test. The host decides who may call and where things are kept; the server only what it does.
 */

import type { Layer } from './core/call.ts'
import type { Clock } from './core/clock.ts'
import type { Logger } from './core/log.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import type { Server } from './protocol/server.ts'

/** What the host hands in. */
export interface HostContext {
  /** A folder of the server's own; the host has made it, readable by this account alone. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the command line named, where the server takes something: a folder to serve, for instance. */
  readonly argument?: string
  readonly logger: Logger
  readonly clock: Clock
}

/** A server that is ready for a host: its definition, and what it brings along. */
export interface OpenedServer {
  readonly definition: ServerDefinition
  /** The server's own layers, at the place of `Runtime.layers`. */
  readonly layers?: readonly Layer[]
  /** Maximum size of a message; transports refuse larger ones. The transport's limit by default. */
  readonly maxMessageBytes?: number
  /** It asks nothing of earlier clients and announces what may be missed: their requests are served without a session too. */
  readonly stateless?: boolean
  /** Methods that it serves without a credential by default. `publicMethods` of the operator replaces them. */
  readonly publicMethods?: readonly string[]
  /**
   * What to do where processes share a store but not a file system, for a server that keeps data in its folder: "set
   * SLUICE_MEMORY_POSTGRES". The host refuses to start there, because each process would have separate data.
   */
  readonly sharedStoreAdvice?: string
  /** Names of variables that hold credentials and were read; the host removes them from `process.env`. */
  readonly secrets?: readonly string[]
  /** For the host's table: `ready`, or what a person has to do first. */
  readonly state: string
  /** The server runs: from now on it may announce changes through it. */
  readonly started?: (server: Server) => void
  readonly close: () => Promise<void>
}

/** What a server package exports, so that any host can run it. */
export type OpenServer = (site: HostContext) => Promise<OpenedServer>
