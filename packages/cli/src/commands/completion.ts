/** `sluice completion`: scripts generated from the program itself, so that they are never out of date. */

import type { Command } from 'commander'
import { builtInNames } from '../host/servers.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { CommandContext } from './context.ts'

interface Entry {
  /** `approvals list`; empty for the program itself. */
  readonly path: string
  readonly about: string
  /** The completions at this position: subcommands or names. */
  readonly names: readonly string[]
  readonly options: readonly { readonly name: string; readonly takesValue: boolean }[]
}

const writers: { readonly [shell: string]: ((entries: readonly Entry[]) => string) | undefined } = { bash, zsh, fish }

/** Names that the commands themselves do not reveal. */
const values: { readonly [path: string]: readonly string[] } = { serve: builtInNames, completion: Object.keys(writers) }

export async function completion({ terminal }: CommandContext, program: Command, shell: string): Promise<number> {
  const write = writers[shell]
  if (!write)
    throw new CommandError(`No completion for "${shell}". Use ${Object.keys(writers).join(', ')}.`, exitCodes.usage)
  terminal.out(write(entriesOf(program)))
  return exitCodes.ok
}

function entriesOf(command: Command, path = ''): readonly Entry[] {
  const children = command.commands.map((child) => child.name())
  const options = command.options.map(({ long, required }) => ({ name: long ?? '', takesValue: required }))
  const entry: Entry = {
    path,
    about: command.description(),
    names: [...children, ...(values[path] ?? [])],
    options: [...options, { name: '--help', takesValue: false }],
  }
  return [
    entry,
    ...command.commands.flatMap((child) => entriesOf(child, path === '' ? child.name() : `${path} ${child.name()}`)),
  ]
}

/** Words that are not commands, such as ids and values of flags, are skipped. */
function bash(entries: readonly Entry[]): string {
  const known = entries.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`)
  const cases = entries.map(({ path, names, options }) => {
    const words = [...names, ...options.map(({ name }) => name)]
    return `    "${path}") words="${words.join(' ')}" ;;`
  })
  return `_sluice() {
  local path="" word words="" current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
    ${known.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _sluice sluice`
}

/** zsh loads the bash script. */
function zsh(entries: readonly Entry[]): string {
  return `#compdef sluice
autoload -U +X bashcompinit && bashcompinit
${bash(entries)}`
}

function fish(entries: readonly Entry[]): string {
  const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
  const lines = entries.flatMap(({ path, names, options }) => {
    const seen = path.split(' ').filter((part) => part !== '')
    const where =
      seen.length === 0
        ? '__fish_use_subcommand'
        : seen.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ')
    const at = `complete -c sluice -n ${quoted(where)}`
    const about = (name: string): string => entries.find((each) => each.path === [...seen, name].join(' '))?.about ?? ''
    return [
      ...names.map((name) => `${at} -a ${name} -d ${quoted(about(name))}`),
      ...options.map(({ name, takesValue }) => `${at} -l ${name.slice(2)}${takesValue ? ' -r -F' : ''}`),
    ]
  })
  // Completes files only for modules and for values of flags.
  return ['complete -c sluice -f', "complete -c sluice -n '__fish_seen_subcommand_from serve' -F", ...lines].join('\n')
}
