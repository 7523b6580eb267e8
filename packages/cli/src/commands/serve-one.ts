/** Runs one opened server until it ends, on stdio or on a port: the common part of `sluice serve` and `sluice wrap`. */

import type { Logger, OpenedServer, Server } from 'sluice'
import type { Gateway } from 'sluice/gateway-node'
import { serveStdio } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import { approveLine } from '../host/approve-line.ts'
import { createHost } from '../host/host.ts'
import { owner } from '../host/identities.ts'
import { omitUndefined } from '../host/omit-undefined.ts'
import { refuseSplitData, toServer } from '../host/run.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { CommandContext } from './context.ts'

export interface OneServer {
  readonly name: string
  readonly opened: OpenedServer
  readonly config: Config
  /** The data folder. */
  readonly folder: string
  /** The configuration file, if there is one. */
  readonly file?: string | undefined
  readonly logger: Logger
  readonly isStdio: boolean
  /** The gateway, if the server is an upstream. */
  readonly gateway?: Gateway
  /** Returns lines about the server, or rejects if it must not be served. Called when its definitions are listed. */
  readonly describe?: () => Promise<readonly string[]>
  /** Watches the server's module. */
  readonly watch?: { readonly module: string; start(server: Server): () => void }
}

export async function serveOne(context: CommandContext, one: OneServer): Promise<number> {
  const { name, opened, config, logger, isStdio, gateway, folder } = one
  refuseSplitData([{ name, opened }], config)
  const clientApproves = isStdio && gateway === undefined
  const { env } = context
  const host = await createHost(config, {
    ...{ env, logger, owner, stdio: isStdio, clientApproves },
    ...(isStdio && { approveLine: approveLine({ folder, file: one.file, env }) }),
  })
  host.show({ gateway })
  const control = gateway && (await (await import('../host/control.ts')).listenForControl(folder, gateway, logger))
  let closing: Promise<void> | undefined
  /** Closes once, because on stdio the transport calls it too. */
  const closeAll = (): Promise<void> => {
    closing ??= (async () => {
      await control?.close()
      await opened.close()
      await host.opened.close()
    })()
    return closing
  }
  if (isStdio) {
    const server = toServer({ name, opened }, host, config)
    try {
      await overStdio(context, one, server, closeAll)
    } catch (thrown) {
      await server.close()
      await closeAll()
      throw thrown
    }
  } else await (await import('./serve-http.ts')).overHttp(context, one, host, closeAll)
  await closeAll()
  return exitCodes.ok
}

async function overStdio(
  { terminal }: CommandContext,
  { opened, config, gateway, describe, watch }: OneServer,
  server: Server,
  flush: () => Promise<void>,
): Promise<void> {
  // A client that asks for the tools at once would otherwise be told that they are not known yet.
  if (gateway) await server.ready()
  for (const line of (await describe?.()) ?? []) terminal.err(line)
  const stopWatching = watch?.start(server)
  const { maxMessageBytes: maxLineBytes } = opened
  // It handles signals itself, so that calls in flight finish first.
  const { graceMs: drainMs } = config.drain
  await serveStdio(server, { ...omitUndefined({ maxLineBytes, drainMs }), flush }).closed
  stopWatching?.()
}

/** Whether to serve on stdio: as the flags say, otherwise unless a person sits at a terminal. */
export function choosesStdio(options: {
  readonly stdio?: boolean
  readonly http?: boolean
  readonly ws?: boolean
}): boolean {
  const isListening = options.http === true || options.ws === true
  if (options.stdio && isListening)
    throw new CommandError('--stdio excludes --http and --ws: choose one', exitCodes.usage)
  return !isListening && (options.stdio === true || process.stdin.isTTY !== true)
}
