/**
 * The contract between a server package and its host, which may be the package's own binary, the `sluice` command or a
 * test. The host decides which callers are served and where data is kept; the server decides only what it does.
 */

import type { Layer } from './core/call.ts'
import type { Clock } from './core/clock.ts'
import type { Logger } from './core/log.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import type { Server } from './protocol/server.ts'

/** What a server gets from its host. */
export interface HostContext {
  /** The server's folder. The host creates it, and only this account can read it. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The argument of the command line, such as a folder to serve. */
  readonly argument?: string
  /** The address of the PostgreSQL that the processes share, with its password. The server may keep its data there. */
  readonly postgres?: string
  readonly logger: Logger
  readonly clock: Clock
}

/** A server that a host can run. */
export interface OpenedServer {
  readonly definition: ServerDefinition
  /** The server's own layers, in the slot `custom`. */
  readonly layers?: readonly Layer[]
  /** The maximum size of a message. Transports refuse larger ones. By default the limit of the transport. */
  readonly maxMessageBytes?: number
  /** Serves clients before 2026-07-28 without a session too. The server asks them nothing, and they may miss notifications. */
  readonly stateless?: boolean
  /** Methods that need no credential by default. `publicMethods` of the operator replaces them. */
  readonly publicMethods?: readonly string[]
  /**
   * What to do if processes share a store but no file system, such as "set SLUICE_MEMORY_POSTGRES". The host refuses to
   * start such processes, because each would have separate data in its folder.
   */
  readonly sharedStoreAdvice?: string
  /** The names of variables with credentials that were read. The host removes them from `process.env`. */
  readonly secrets?: readonly string[]
  /** `ready`, or what a person must do first. The host shows it. */
  readonly state: string
  /** Called when the server runs. From now on changes can be announced through it. */
  readonly started?: (server: Server) => void
  readonly close: () => Promise<void>
}

/** The function that a server package exports as `open`. */
export type OpenServer = (context: HostContext) => Promise<OpenedServer>
