/** Who may read the data folder. Keys and the secret are in it, and a copy or an archive may have given others a right to them. */

import { join } from 'node:path'
import { isReadableByOthers, restrictToOwner } from 'sluice/node'

/** Made by the command; databases and logs see to themselves when they are opened. */
const privateNames = ['secret', 'keys.json', 'clients']

/**
 * Takes the rights of other accounts away from files of ours. Returns what was found, as sentences. The folder itself is
 * only mentioned: it may be one that the operator shares on purpose, or a home folder.
 */
export function tightenPermissions(folder: string): readonly string[] {
  const files = privateNames
    .map((name) => join(folder, name))
    .filter((path) => isReadableByOthers(path))
    .map((path) =>
      restrictToOwner(path)
        ? `Other accounts could read ${path}; now they cannot. If one may have read it, remove it: a new one is made.`
        : `Other accounts can read ${path}, and this account may not change that: chmod 600 ${path}`,
    )
  return isReadableByOthers(folder) ? [...files, folderWarning(folder)] : files
}

const folderWarning = (folder: string): string =>
  `Other accounts can look into ${folder}. If that is not meant: chmod 700 ${folder}`
