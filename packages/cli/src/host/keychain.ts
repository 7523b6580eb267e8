/**
 * Reads a secret from the keychain of this account, through the command that the system brings for it. The secret is
 * read from the command's output and is never part of a command line, which other accounts can see.
 */

import type { Environment } from 'sluice/node'

/** A person may have to unlock the keychain first. */
const timeoutMs = 60_000

interface KeychainCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: { readonly [name: string]: string }
  /** How to install the command. */
  readonly install: string
  /** How to store the entry. */
  readonly store: string
}

/** The `Windows.Security.Credentials` vault has no command, so PowerShell reads it. The names travel as variables. */
const readVault =
  '[void][Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime]; ' +
  '(New-Object Windows.Security.Credentials.PasswordVault).Retrieve($env:SLUICE_ENTRY,$env:SLUICE_ACCOUNT).Password'

/** Returns the command for an entry: `service`, or `service/account`. */
function keychainCommand(entry: string, platform: NodeJS.Platform): KeychainCommand {
  const at = entry.indexOf('/')
  const service = at < 0 ? entry : entry.slice(0, at)
  const account = at < 0 ? '' : entry.slice(at + 1)
  if (platform === 'darwin')
    return {
      command: 'security',
      args: ['find-generic-password', '-w', '-s', service, ...(account === '' ? [] : ['-a', account])],
      install: 'It is part of macOS: check PATH',
      store: `security add-generic-password -s ${service} -a ${account || '"$USER"'} -w`,
    }
  if (platform === 'win32')
    return {
      command: 'powershell.exe',
      args: ['-NoProfile', '-NonInteractive', '-Command', readVault],
      env: { SLUICE_ENTRY: service, SLUICE_ACCOUNT: account },
      install: 'It is part of Windows: check PATH',
      store: 'the Credential Manager, as a web credential',
    }
  const attributes = ['service', service, ...(account === '' ? [] : ['account', account])]
  return {
    command: 'secret-tool',
    args: ['lookup', ...attributes],
    install: 'Install it (Debian: libsecret-tools; Fedora: libsecret)',
    store: `secret-tool store --label='${service}' ${attributes.join(' ')}`,
  }
}

/** Returns the secret of an entry. Rejects with what to do. The error has no output of the command. */
export async function readKeychain(
  entry: string,
  variables: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<string> {
  if (!/^[\w.@:+][\w.@:+ -]*(\/[\w.@:+][\w.@:+ -]*)?$/.test(entry))
    throw new Error(`"${entry}" is not a name of a keychain entry: write service or service/account`)
  const { command, args, env, install, store } = keychainCommand(entry, platform)
  // Not imported, because most commands read no keychain, and the module takes a while to load.
  const { execFile } = process.getBuiltinModule('node:child_process')
  const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) => {
    const options = { timeout: timeoutMs, maxBuffer: 64 * 1024, env: { ...variables, ...env }, windowsHide: true }
    execFile(command, [...args], options, (error, stdout) => {
      resolve({ code: error ? (error.code ?? 'ended') : 0, text: stdout })
    })
  })
  if (code === 'ENOENT')
    throw new Error(
      `the keychain is read with the command ${command}, which is missing. ${install}, or use \${env:NAME} or \${file:path}`,
    )
  const secret = text.replace(/\r?\n$/, '')
  if (code === 0 && secret !== '') return secret
  throw new Error(`the keychain has no readable entry ${entry}. Store it with: ${store}`)
}
