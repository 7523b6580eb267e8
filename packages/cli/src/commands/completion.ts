/** `sluice completion`: scripts made from the program itself, so that they cannot fall behind it. */

import type { Command } from 'commander'
import { ownNames } from '../host/servers.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { Around } from './command.ts'

interface Entry {
  /** `approvals list`; empty for the program itself. */
  readonly path: string
  readonly about: string
  readonly words: readonly string[]
}

export async function completion({ terminal }: Around, program: Command, shell: string): Promise<number> {
  const write = writers[shell]
  if (!write)
    throw new CommandError(
      `There is completion for ${Object.keys(writers).join(', ')}, not for "${shell}"`,
      exitCodes.usage,
    )
  terminal.out(write(entriesOf(program)))
  return exitCodes.ok
}

function entriesOf(command: Command, path = ''): readonly Entry[] {
  const children = command.commands.map((child) => child.name())
  const options = command.options.map(({ long }) => long ?? '').filter((long) => long !== '')
  const values = path === 'serve' ? ownNames : []
  const own: Entry = { path, about: command.description(), words: [...children, ...values, ...options] }
  return [
    own,
    ...command.commands.flatMap((child) => entriesOf(child, path === '' ? child.name() : `${path} ${child.name()}`)),
  ]
}

const writers: { readonly [shell: string]: ((entries: readonly Entry[]) => string) | undefined } = { bash, zsh, fish }

function bash(entries: readonly Entry[]): string {
  const cases = entries.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`)
  return `_sluice() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _sluice sluice`
}

/** zsh takes bash's. */
function zsh(entries: readonly Entry[]): string {
  return `#compdef sluice
autoload -U +X bashcompinit && bashcompinit
${bash(entries)}`
}

function fish(entries: readonly Entry[]): string {
  const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
  const lines = entries.flatMap(({ path, words }) => {
    const seen = path.split(' ').filter((part) => part !== '')
    const where =
      seen.length === 0
        ? '__fish_use_subcommand'
        : seen.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ')
    return words.map((word) =>
      word.startsWith('--')
        ? `complete -c sluice -n ${quoted(where)} -l ${word.slice(2)}`
        : `complete -c sluice -n ${quoted(where)} -a ${word} -d ${quoted(entries.find(({ path: each }) => each === [...seen, word].join(' '))?.about ?? '')}`,
    )
  })
  return lines.join('\n')
}
