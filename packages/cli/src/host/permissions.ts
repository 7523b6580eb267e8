/** Restricts the files in the data folder to this account, because a copy or an archive may have loosened permissions. */

import { join } from 'node:path'
import { isReadableByOthers, restrictToOwner } from 'sluice/node'

/** The files that the command makes. Databases and logs are restricted when they are opened. */
const privateNames = ['secret', 'keys.json', 'clients', 'secrets', 'backups']

/**
 * Removes the permissions of other accounts from our files, and returns a message for each. The folder itself is only
 * reported, because the operator may share it on purpose.
 */
export function tightenPermissions(folder: string): readonly string[] {
  const files = privateNames
    .map((name) => join(folder, name))
    .filter((path) => isReadableByOthers(path))
    .map((path) =>
      restrictToOwner(path)
        ? `Other accounts could read ${path}; now they cannot. If one may have read it, remove it to get a new one.`
        : `Other accounts can read ${path}, and this account may not change that. Run as its owner: chmod 600 ${path}`,
    )
  return isReadableByOthers(folder) ? [...files, folderWarning(folder)] : files
}

const folderWarning = (folder: string): string =>
  `Other accounts can read ${folder}. If that is not intended: chmod 700 ${folder}`
