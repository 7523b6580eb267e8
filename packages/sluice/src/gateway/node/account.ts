/** The account that a process runs as, if it is not the gateway's. Only then is a process separated from the others' files. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Account {
  readonly uid: number
  readonly gid: number
  readonly home: string
}

/** Finds an account by name or number. Rejects if there is none, or if this process may not use it. */
export async function findAccount(user: string): Promise<Account> {
  if (process.getuid?.() !== 0)
    throw new Error('"user" needs a gateway that runs as root: start it as root, or remove "user"')
  const { stdout } = await run('getent', ['passwd', '--', user]).catch(() => ({ stdout: '' }))
  const [, , uid = '', gid = '', , home = '/'] = stdout.trim().split(':')
  if (uid === '' || gid === '') throw new Error(`This machine has no account "${user}": check "user"`)
  return { uid: Number(uid), gid: Number(gid), home }
}
