/** `sluice keys`: API keys for agents. A key is shown once, when it is created. */

import type { ApiKey } from 'sluice'
import { apiKeys } from 'sluice'
import { ago, CommandError, escapeControls, exitCodes, styled, table, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { StoreCommandOptions } from './with-store.ts'
import { withStore } from './with-store.ts'

export interface CreateOptions extends StoreCommandOptions {
  readonly tenant?: readonly string[]
  readonly scope?: readonly string[]
  readonly label?: string
  readonly days?: string
}

export const keysCreate = (context: CommandContext, subject: string, options: CreateOptions): Promise<number> =>
  withStore(context, options, async ({ store }) => {
    const days = options.days === undefined ? undefined : Number(options.days)
    if (days !== undefined && !(days > 0)) throw new CommandError('--days must be a number above 0', exitCodes.usage)
    const { secret, key } = await apiKeys(store).create({
      subject,
      tenants: options.tenant ?? [],
      scopes: options.scope ?? [],
      label: options.label ?? '',
      ...(days !== undefined && { expires: Date.now() + days * 86_400_000 }),
    })
    const { terminal } = context
    if (options.json) terminal.out(toJson({ secret, ...key }))
    else {
      terminal.out(secret)
      terminal.err(
        styled(terminal, 'yellow', `The key is shown only now. Its id is ${key.id}, for ${escapeControls(subject)}.`),
      )
    }
    return exitCodes.ok
  })

export const keysList = (context: CommandContext, options: StoreCommandOptions): Promise<number> =>
  withStore(context, options, async ({ store }) => {
    const { terminal } = context
    const keys = await allKeys(store)
    if (options.json) terminal.out(toJson(keys))
    else if (keys.length === 0) terminal.out('No keys yet. Create one with: sluice keys create <name>')
    else
      terminal.out(
        table(terminal, ['ID', 'SUBJECT', 'LAST USE', 'EXPIRES', 'STATE', 'TENANTS', 'KEY', 'LABEL'], keys.map(rowOf)),
      )
    return exitCodes.ok
  })

export const keysRevoke = (context: CommandContext, id: string, options: StoreCommandOptions): Promise<number> =>
  withStore(context, options, async ({ store, bus }) => {
    if (!(await apiKeys(store, { bus }).revoke(id)))
      throw new CommandError(`Key ${id} does not exist. Run sluice keys list to see the keys.`)
    context.terminal.out(
      options.json ? toJson({ revoked: id }) : `Revoked ${id}. It stops working everywhere within five seconds.`,
    )
    return exitCodes.ok
  })

async function allKeys(store: Parameters<typeof apiKeys>[0]): Promise<readonly ApiKey[]> {
  const keys: ApiKey[] = []
  const admin = apiKeys(store)
  for (;;) {
    const after = keys.at(-1)?.id
    const page = await admin.list(after === undefined ? { limit: 100 } : { limit: 100, after })
    keys.push(...page)
    if (page.length < 100) return keys
  }
}

function rowOf({ id, prefix, subject, tenants, lastUse, label, expires, revoked }: ApiKey): readonly string[] {
  const now = Date.now()
  const state = revoked !== undefined ? 'revoked' : expires !== undefined && expires <= now ? 'expired' : 'valid'
  return [
    id,
    escapeControls(subject),
    lastUse === undefined ? 'never' : ago(lastUse, now),
    expires === undefined ? 'never' : new Date(expires).toISOString().slice(0, 10),
    state,
    escapeControls(tenants.join(', ')) || '–',
    `${prefix}…`,
    escapeControls(label),
  ]
}
