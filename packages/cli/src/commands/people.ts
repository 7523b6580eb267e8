/** `sluice people`: who else may sign in to the console, and what they may do there. */

import type { OperatorKey, Operators } from '@sluice/console'
import { createConsole } from '@sluice/console'
import { createAudit } from 'sluice/audit'
import { owner } from '../host/identities.ts'
import { omitUndefined } from '../host/omit-undefined.ts'
import { ago, CommandError, escapeControls, exitCodes, styled, table, toJson, wrapText } from '../output.ts'
import type { CommandContext } from './context.ts'
import { permissions } from './permissions.ts'
import type { StoreCommandOptions } from './with-store.ts'
import { withStore } from './with-store.ts'

export interface AddOptions extends StoreCommandOptions {
  readonly may?: readonly string[]
  readonly tenant?: readonly string[]
  readonly days?: string
}

interface PeopleServices {
  readonly operators: Operators
  /** Records a change in the audit of each tenant that the person may see. */
  record(kind: string, person: OperatorKey): void
}

const withPeople = (
  context: CommandContext,
  options: StoreCommandOptions,
  work: (services: PeopleServices) => Promise<number>,
): Promise<number> =>
  withStore(context, options, async ({ store }, config) => {
    const { operators } = createConsole({ store })
    const audit = config.audit
      ? createAudit({ ...omitUndefined({ ...config.audit, retention: undefined }), store })
      : undefined
    try {
      return await work({
        operators,
        record(kind, { name, id, scopes, tenants }) {
          for (const tenant of tenants.length > 0 ? tenants : ['default'])
            audit?.record(tenant, kind, { person: name, key: id, scopes, by: owner, via: 'command' })
        },
      })
    } finally {
      await audit?.close()
    }
  })

const isCurrent = ({ revoked, expires = Number.POSITIVE_INFINITY }: OperatorKey): boolean =>
  revoked === undefined && expires > Date.now()

export const peopleAdd = (context: CommandContext, name: string, options: AddOptions): Promise<number> =>
  withPeople(context, options, async ({ operators, record }) => {
    const days = options.days === undefined ? undefined : Number(options.days)
    if (days !== undefined && !(days > 0)) throw new CommandError('--days must be a number above 0', exitCodes.usage)
    if ((await operators.list()).some((person) => person.name === name && isCurrent(person)))
      throw new CommandError(`${name} has a key already. Remove it first with: sluice people remove ${name}`)
    const { secret, key } = await operators.create({
      name,
      scopes: (options.may ?? []).flatMap((word) => permissions[word] ?? []),
      tenants: options.tenant ?? [],
      ...(days !== undefined && { expires: Date.now() + days * 86_400_000 }),
    })
    record('person added', key)
    const { terminal } = context
    if (options.json) terminal.out(toJson({ secret, ...key }))
    else {
      terminal.out(secret)
      const what = `${escapeControls(name)} signs in to the console with this key. It is shown only now.`
      terminal.err(styled(terminal, 'yellow', wrapText(terminal, what)))
    }
    return exitCodes.ok
  })

export const peopleList = (context: CommandContext, options: StoreCommandOptions): Promise<number> =>
  withPeople(context, options, async ({ operators }) => {
    const { terminal } = context
    const people = (await operators.list()).filter(isCurrent)
    if (options.json) terminal.out(toJson(people))
    else if (people.length === 0)
      terminal.out('No people yet. Add one with: sluice people add <name> --may approve. You sign in by a link.')
    else terminal.out(table(terminal, ['NAME', 'MAY', 'TENANTS', 'LAST USE', 'EXPIRES', 'KEY'], people.map(rowOf)))
    return exitCodes.ok
  })

export const peopleRemove = (context: CommandContext, name: string, options: StoreCommandOptions): Promise<number> =>
  withPeople(context, options, async ({ operators, record }) => {
    const found = (await operators.list()).filter((person) => isCurrent(person) && person.name === name)
    if (found.length === 0)
      throw new CommandError(`${name} is not among the people. Run sluice people list to see them.`)
    for (const person of found) {
      await operators.revoke(person.id)
      record('person removed', person)
    }
    context.terminal.out(
      options.json ? toJson({ removed: name }) : `Removed ${escapeControls(name)}. Open sessions have ended.`,
    )
    return exitCodes.ok
  })

function rowOf({ name, scopes, tenants, lastUse, expires, prefix }: OperatorKey): readonly string[] {
  const words = Object.entries(permissions).filter(([, scope]) => scopes.includes(scope))
  return [
    escapeControls(name),
    ['read', ...words.map(([word]) => word)].join(', '),
    tenants.length === 0 ? 'all' : tenants.join(', '),
    lastUse === undefined ? 'never' : ago(lastUse, Date.now()),
    expires === undefined ? 'never' : new Date(expires).toISOString().slice(0, 10),
    `${prefix}…`,
  ]
}
